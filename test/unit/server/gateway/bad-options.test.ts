/**
 * Options that cannot work: each is refused by its name, with what to give instead, and nothing is
 * left running.
 */
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { describe, expect, test } from 'vitest';
import { memory } from '../../../../src/bindings/memory/index.ts';
import {
  createEmbedded,
  createGateway,
  listenGateways,
  EU_US_ROUND_TRIPS_MS,
  serve,
} from '../../../../src/server/index.ts';
import { ticketService as service } from '../site/services.ts';

const gateway = () => createGateway({ binding: memory() });
const closedGateway = async () => {
  const closed = gateway();
  await closed.close();
  return closed;
};

/** The error of an option: it names `field` and then explains the problem. */
const rejection = (field: string) => ({
  name: 'CorrectableError',
  code: 'INVALID_ARGUMENT',
  field,
  message: expect.stringMatching(new RegExp(`^${field.replaceAll('.', '\\.')}:? .{10}`)),
});

const thrownBy = async (call: () => unknown): Promise<unknown> => {
  try {
    await call();
    return 'nothing';
  } catch (error) {
    return error;
  }
};

describe('listenGateways', () => {
  test.each([
    ['no sites', { sites: {} }, 'sites'],
    ['a site without a gateway', { sites: { a: undefined } }, 'sites.a'],
    ['a binding in the place of its gateway', { sites: { a: memory() } }, 'sites.a'],
    ['a port that is too high', { port: 99_999 }, 'port'],
    ['half a port', { port: 1.5 }, 'port'],
    ['a host that others reach, where nobody authenticates', { host: '0.0.0.0' }, 'host'],
    ['a site named as a path of the server', { sites: { health: gateway() } }, 'sites'],
    ['a site that cannot be a path', { sites: { 'a/b': gateway() } }, 'sites'],
    ['a port that is a name, which Node takes for a path', { port: 'x' }, 'port'],
    ['a host that is a number', { host: 5 }, 'host'],
    ['a host without letters, which stands for all addresses', { host: '' }, 'host'],
    ['a host with a port', { host: '127.0.0.1:80', allowUnauthenticated: true }, 'host'],
    ['an IPv6 address with a port', { host: '[::1]:80', allowUnauthenticated: true }, 'host'],
    ['a URL for a host', { host: 'http://127.0.0.1', allowUnauthenticated: true }, 'host'],
    [
      'a page with its own server, which would never request it',
      { page: () => {}, server: createServer() },
      'page',
    ],
    ['a page that is no function', { page: 'index.html' }, 'page'],
    ['a server that is a port', { server: 80 }, 'server'],
    ['a server that is an application', { server: () => {} }, 'server'],
    ['a logger that is none', { logger: {} }, 'logger'],
  ])('%s → INVALID_ARGUMENT', async (_, options, field) => {
    const value = { sites: { a: gateway() }, ...options } as never;
    expect(await thrownBy(() => listenGateways(value))).toMatchObject(rejection(field));
    expect(existsSync('x')).toBe(false);
  });

  test('a gateway that has closed → INVALID_ARGUMENT', async () => {
    const sites = { open: gateway(), a: await closedGateway() };
    expect(await thrownBy(() => listenGateways({ sites }))).toMatchObject(rejection('sites.a'));
  });

  test('a port in use → rejects with the error of the operating system', async () => {
    await using listener = closing(await listenGateways({ sites: { a: gateway() } }));
    const port = Number(new URL(listener.it.url).port);
    expect(await thrownBy(() => listenGateways({ sites: { a: gateway() }, port }))).toMatchObject({
      code: 'EADDRINUSE',
    });
  });
});

describe('createGateway', () => {
  test.each([
    ['a client in the place of a binding', { binding: {} }, 'binding'],
    ['a contract that is none', { contract: {} }, 'contract'],
    ['the name of a contract', { contract: 'shop' }, 'contract'],
    ['a site that is a number', { site: 5 }, 'site'],
    ['a logger that is none', { logger: {} }, 'logger'],
    ['a hook that is none', { authorize: true }, 'authorize'],
  ])('%s → INVALID_ARGUMENT', async (_, options, field) => {
    const value = { binding: memory(), ...options } as never;
    expect(await thrownBy(() => createGateway(value))).toMatchObject(rejection(field));
  });
});

describe('serve and createEmbedded', () => {
  const ofDeployment = [
    ['no sites', { sites: [] }, 'sites'],
    ['sites that are none', { sites: undefined }, 'sites'],
    ['a site that is a number', { sites: [1] }, 'sites'],
    ['a site twice', { sites: ['a', 'a'] }, 'sites'],
    ['no attempts', { maxAttempts: 0 }, 'maxAttempts'],
    ['no steps', { generators: { maxSteps: 0 } }, 'generators.maxSteps'],
    ['half a millisecond', { generators: { timeoutMs: 0.5 } }, 'generators.timeoutMs'],
    [
      'checks more often than runs',
      { generators: { determinismCheckRate: 2 } },
      'generators.determinismCheckRate',
    ],
    ['delays that are none', { sites: ['ireland', 'frankfurt'], latency: null }, 'latency'],
    ['an unknown latency preset', { sites: ['ireland', 'frankfurt'], latency: 'slow' }, 'latency'],
    ['a key that is a number', { clusterKey: 5 }, 'clusterKey'],
    ['a key that is too short', { clusterKey: 'short' }, 'clusterKey'],
    ['a data directory without a name', { dataDir: '' }, 'dataDir'],
    ['a data directory that is a number', { dataDir: 5 }, 'dataDir'],
    ['an alarm that is none', { onAlarm: 'page me' }, 'onAlarm'],
    ['generators in the place of their bounds', { generators: () => {} }, 'generators'],
  ] as const;

  test.each(ofDeployment)(
    'createEmbedded with %s → INVALID_ARGUMENT',
    async (_, options, field) => {
      const { service: value, ...others } = { service, sites: ['ireland'], ...options };
      expect(await thrownBy(() => createEmbedded(value as never, others as never))).toMatchObject(
        rejection(field),
      );
    },
  );

  test.each([
    ...ofDeployment,
    ['a port that is too high', { port: 99_999 }, 'port'],
    ['a page that is no function', { page: 5 }, 'page'],
    ['a logger that is none', { logger: {} }, 'logger'],
    ['a site that cannot be a path', { sites: ['a b'] }, 'sites'],
  ] as const)('serve with %s → INVALID_ARGUMENT', async (_, options, field) => {
    const value = { service, sites: ['ireland'], ...options } as never;
    expect(await thrownBy(() => serve(value))).toMatchObject(rejection(field));
  });
});

describe('the message of a bad option', () => {
  const sites = ['a', 'b'];
  const otherEnds = { 'b-c-a': 10, 'c-a-b': 5, 'a-a-b': 1, 'a-c': 1, 'b-c-a-b': 1, 'b-c-c': 1 };
  test.each([
    [
      'the delays of eu-us, between other sites',
      { sites, latency: 'eu-us' },
      'latency.a-b',
      /eu-us.*ireland, frankfurt.*virginia/,
    ],
    [
      'a pair without its delay',
      { sites, latency: {} },
      'latency.a-b',
      /is missing.*\{ 'a-b': 20 \}/,
    ],
    ['a delay that is a text', { sites, latency: { 'a-b': '5' } }, 'latency.a-b', /not '5'/],
    [
      'a delay from both ends',
      { sites, latency: { 'a-b': 5, 'b-a': 6 } },
      'latency.a-b',
      /set as b-a too/,
    ],
    [
      'a delay of two pairs',
      { sites: ['a', 'b-c', 'a-b', 'c'], latency: { 'a-b-c': 10, 'c-a-b': 500 } },
      'latency.a-b-c',
      /a and b-c as well as a-b and c: give each from its other end/,
    ],
    ['a time that is a text', { siteTimeoutMs: '5' }, 'siteTimeoutMs', /got "5"/],
    ['a bound that is a fraction', { maxAttempts: 0.5 }, 'maxAttempts', /got 0\.5/],
  ])('%s', async (_, options, field, pattern) => {
    const error = await thrownBy(() =>
      createEmbedded(service, { sites: ['ireland'], ...options } as never),
    );
    expect(error).toMatchObject({ ...rejection(field), message: expect.stringMatching(pattern) });
  });

  test.each([
    ['a pair whose name reads the same from both ends', ['eu', 'eu-eu'], { 'eu-eu-eu': 20 }],
    ['pairs of one text, each from its other end', ['a', 'b-c', 'a-b', 'c'], otherEnds],
    [
      'one end left out as undefined',
      ['ireland', 'frankfurt'],
      { 'ireland-frankfurt': undefined, 'frankfurt-ireland': 20 },
    ],
    [
      'some of the sites of a table of more',
      ['ireland', 'frankfurt'],
      { ...EU_US_ROUND_TRIPS_MS, 'nca-virginia': 60 },
    ],
  ])('nothing, for %s', async (_, value, latency) => {
    await createEmbedded(service, { sites: value, latency } as never).close();
  });

  test('the address of a site that there is not → its field, and those that there are', async () => {
    await using listener = closing(await listenGateways({ sites: { a: gateway() } }));
    expect(await thrownBy(() => listener.it.siteUrl('nope'))).toMatchObject({
      ...rejection('site'),
      message: expect.stringContaining("'nope' is not one of a"),
    });
  });
});

function closing<T extends { close(): Promise<void> }>(
  it: T,
): { readonly it: T } & AsyncDisposable {
  return { it, [Symbol.asyncDispose]: () => it.close() };
}
