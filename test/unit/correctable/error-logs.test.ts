/** COR-14: what logs show of an error. */
import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { createClient, isCorrectableError } from '../../../src/index.ts';
import { get } from '../../../src/operations/index.ts';
import { CorrectableError, getErrorDetails } from '../../../src/correctable/errors.ts';
import { ThrownDomainError } from '../../../src/server/service/domain-errors.ts';
import { scriptedBinding } from '../../../src/testing/scripted-binding.ts';
import { LEVELS } from './support.ts';

/** What a logger may do with an error. */
const shown = (error: object): string =>
  [
    JSON.stringify(error),
    inspect(error, { depth: 9 }),
    JSON.stringify({ ...error }),
    inspect({ error }),
  ].join('\n');

test('COR-14: an error after a view with a secret and a bigint → logs show facts, and no value', async () => {
  const binding = scriptedBinding(LEVELS);
  const read = createClient(binding).invoke(get('user:7'));
  const call = await binding.next();
  call.view({ iban: 'SECRET', cents: 1n }, 'weak');
  call.fail(new Error('down'));
  const error = await read
    .map((value) => value)
    .catch((reason: unknown) => reason as CorrectableError);
  expect(isCorrectableError(error, 'FINAL_FAILED') && error.lastView?.value).toMatchObject({
    iban: 'SECRET',
  });
  expect(JSON.parse(JSON.stringify(error))).toEqual({
    name: 'CorrectableError',
    code: 'FINAL_FAILED',
    message: 'get "user:7": the final view failed; see cause',
    operation: 'get',
    key: 'user:7',
    retryable: false,
    docs: 'node_modules/correctables/docs/reference/error-codes.md#final_failed',
  });
  expect(shown(error as object)).not.toContain('SECRET');
});

test('COR-14: a typed error of the binding before any view → has the operation and the key', async () => {
  const binding = scriptedBinding(LEVELS);
  const read = createClient(binding).invoke(get('user:7'));
  (await binding.next()).fail(new CorrectableError('FORBIDDEN', 'not yours'));
  const error = await read.catch((reason: unknown) => reason);
  expect(error).toMatchObject({
    code: 'FORBIDDEN',
    message: 'not yours',
    operation: 'get',
    key: 'user:7',
  });
});

test('COR-14: a wrong call, or a call of a closed client → the error has the operation and the key', async () => {
  const client = createClient(scriptedBinding(LEVELS));
  const facts = { operation: 'get', key: 'user:7' };
  await expect(client.invoke(get('user:7'), { timeoutMs: -1 })).rejects.toMatchObject({
    field: 'timeoutMs',
    ...facts,
  });
  await client.close();
  await expect(client.invoke(get('user:7'))).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    ...facts,
  });
});

test('COR-14: a domain error → logs do not show its data, but the error has it', () => {
  const domain = { name: 'notEnough', data: { iban: 'SECRET', cents: 1n } };
  for (const error of [
    new CorrectableError('DOMAIN', 'pay: notEnough', { domain }),
    new ThrownDomainError(domain),
  ]) {
    expect(shown(error)).not.toContain('SECRET');
    expect(error.domain).toBe(domain);
  }
});

test('COR-14: a failed part of what is made of it → its last view and failed levels stay on the error', async () => {
  const binding = scriptedBinding(LEVELS);
  const read = createClient(binding).invoke(get<number>('k'));
  const call = await binding.next();
  call.view(1, 'weak');
  call.fail(new Error('behind'), 'causal');
  call.fail(new CorrectableError('OVERLOADED', 'busy', { retryAfterMs: 5 }));
  const error = await read.map(String).catch((reason: unknown) => reason);
  expect(error).toMatchObject({
    code: 'OVERLOADED',
    retryAfterMs: 5,
    lastView: { value: 1 },
    operation: 'get',
  });
  expect(Object.keys((error as CorrectableError).levelErrors)).toContain('causal');
});

test('COR-14: an error with a cause → only what Node prints of any error shows the cause', () => {
  const error = new CorrectableError('FINAL_FAILED', 'get: failed', {
    cause: new Error('refused'),
  });
  expect(Object.keys(error)).not.toContain('cause');
  expect(JSON.stringify({ error, ...error })).not.toContain('refused');
  expect(inspect(error)).toContain('[cause]: Error: refused');
});

test('COR-14: an error that was made of another → leads to the documentation of its own code', () => {
  const refused = new CorrectableError('OVERLOADED', 'busy');
  const unclear = new CorrectableError('UNKNOWN', 'no answer', getErrorDetails(refused));
  expect(inspect(refused)).toContain(
    "docs: 'node_modules/correctables/docs/reference/error-codes.md#overloaded'",
  );
  expect(inspect(unclear)).toContain(
    "docs: 'node_modules/correctables/docs/reference/error-codes.md#unknown'",
  );
});
