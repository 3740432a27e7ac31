/** Clients get no address of a database: drivers write them into their errors. */
import { expect, test } from 'vitest';
import { CorrectableError } from '../../../src/correctable/errors.ts';
import { toErrorFacts } from '../../../src/protocol/error-facts.ts';
import { hideAddresses } from '../../../src/protocol/hide-addresses.ts';

test.each([
  ['connect ECONNREFUSED 10.0.0.1:5432', 'connect ECONNREFUSED (address)'],
  ['connect ECONNREFUSED ::1:5432', 'connect ECONNREFUSED (address)'],
  [
    'connect ETIMEDOUT [2001:db8::7]:5432. Nothing was sent.',
    'connect ETIMEDOUT (address). Nothing was sent.',
  ],
  [
    'no connection to db-1.internal:2181,db-2.internal:2181',
    'no connection to (address),(address)',
  ],
  ['no connection to redis://app:secret@cache.internal:6379/0', 'no connection to (address)/0'],
  ['First host tried, 127.0.0.1: refused', 'First host tried, (address): refused'],
  ['getaddrinfo ENOTFOUND db.internal', 'getaddrinfo ENOTFOUND (address)'],
  ['connect ECONNREFUSED fd12:3456:789a::5:5432', 'connect ECONNREFUSED (address)'],
  ['connect ECONNREFUSED 2001:db8:0:0:0:0:0:7:5432', 'connect ECONNREFUSED (address)'],
  ['connect ETIMEDOUT ::ffff:10.0.0.1:5432', 'connect ETIMEDOUT (address)'],
  ['connect ENOENT /var/run/postgresql/.s.PGSQL.5432', 'connect ENOENT (address)'],
  ['no connection to zoo1:2181,zoo2:2181', 'no connection to (address),(address)'],
  ['no connection to redis://app:s/e@cret@cache:6379/0', 'no connection to (address)/0'],
  ['no connection to mongodb+srv://app:secret@db.example/shop', 'no connection to (address)/shop'],
  ['queryA ETIMEOUT db.internal', 'queryA ETIMEOUT (address)'],
  [
    'It is 12:30:45, line 3:10 of https://example.com/docs: std::vector, a/b, me@example',
    undefined,
  ],
  ['no answer within 500 ms. Version 1.2.3 is too old. Try again in 2 s: it is 12:30.', undefined],
])('%s', (message, hidden = message) => {
  expect(hideAddresses(message)).toBe(hidden);
});

test('only the message of a store that does not answer is changed', () => {
  const facts = (code: 'UNAVAILABLE' | 'INVALID_ARGUMENT') =>
    toErrorFacts(new CorrectableError(code, 'args.host: 10.0.0.1:5432')).message;
  expect(facts('UNAVAILABLE')).toBe('args.host: (address)');
  expect(facts('INVALID_ARGUMENT')).toBe('args.host: 10.0.0.1:5432');
});

test.each(['a.', 'a', '1.', '[', '[:', 'a-.', ':', 'a@', '1:', '/'])(
  'a long text of %s takes no long time',
  (part) => {
    const text = part.repeat(200_000 / part.length);
    const startedAtMs = performance.now();
    expect(hideAddresses(text).length).toBeGreaterThan(0);
    expect(performance.now() - startedAtMs).toBeLessThan(1000);
  },
);
