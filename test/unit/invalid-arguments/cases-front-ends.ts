/** Mistakes with what front ends call: queries, stores, views over HTTP, React. */
import { createClient } from '../../../src/index.ts';
import { get, put } from '../../../src/operations/index.ts';
import { binding, contract, method, type Mistakes, type Untyped } from './untyped.ts';

const HOOK = 'is a hook, which runs in a component: test/unit/react';
const COMPONENT = 'is a component: test/unit/react';
const store = () => createClient(binding());
const fetchWith = (fetcher: unknown, options: object): unknown =>
  (fetcher as Untyped)('https://page.test/', options);

export const callsOfFrontEnds: Readonly<Record<string, Mistakes>> = {
  './tanstack-query': {
    correctableQuery: {
      shows: 'correctableQuery(store, get(key))',
      whole: [
        ['nothing', 'client', (f) => f()],
        ['the operation first', 'client', (f) => f(get('a'), store())],
      ],
      parts: [
        ['no operation', 'operation', (f) => f(store())],
        ['a write', 'operation', (f) => f(store(), put('a', 1))],
      ],
    },
  },
  './store': {
    readable: {
      shows: "readable(store.invoke(get('news')))",
      whole: [
        ['nothing', 'correctable', (f) => f()],
        ['a promise', 'correctable', (f) => f(Promise.resolve(1))],
      ],
      parts: [
        [
          'subscribe without a function',
          'run',
          (f) => method(f(store().invoke(get('a'))), 'subscribe')({}),
        ],
      ],
    },
  },
  './http': {
    fetchViews: {
      shows: '',
      whole: [],
      parts: [
        ['no levels', 'levels', (f) => f()],
        [
          'a session of a client',
          'session',
          (f) => fetchWith(f(['weak', 'strong']), { session: store().session() }),
        ],
      ],
    },
    respondWithViews: {
      shows: 'store.invoke(get(key))',
      whole: [
        ['nothing', 'correctable', (f) => f()],
        ['a promise', 'correctable', (f) => f(Promise.resolve(1))],
      ],
      parts: [
        ['another format', 'format', (f) => f(store().invoke(get('a')), { format: 'xml' })],
        [
          'a logger in place of its function',
          'onError',
          (f) => f(store().invoke(get('a')), { onError: {} }),
        ],
      ],
    },
    httpHandler: {
      shows: 'httpHandler(contract, binding, { authenticate })',
      whole: [
        ['nothing', 'contract', (f) => f()],
        ['a list of operations', 'contract', (f) => f(['get'], binding())],
        ['no binding', 'binding', (f) => f(contract())],
        ['a client in the place of its binding', 'binding', (f) => f(contract(), store())],
      ],
      parts: [
        [
          'a token in place of its check',
          'authenticate',
          (f) => f(contract(), binding(), { authenticate: 'x' }),
        ],
        [
          'a misspelt option',
          'authorise',
          (f) => f(contract(), binding(), { authorise: () => true }),
        ],
      ],
    },
    toOpenApi: {
      shows: "toOpenApi(contract, { url: '/api' })",
      whole: [['nothing', 'contract', (f) => f()]],
      parts: [['a misspelt option', 'uri', (f) => f(contract(), { uri: '/api' })]],
    },
    sendViews: {
      shows: '',
      whole: [],
      parts: [
        ['nothing', 'response', (f) => f()],
        ['no response', 'response', (f) => f(store().invoke(get('a')))],
      ],
    },
    createHttpSession: 'takes what sessions are made of, and nothing else',
    readSessionTokens: { shows: '', whole: [], parts: [['nothing', 'request', (f) => f()]] },
    formatSessionCookie: { shows: '', whole: [], parts: [['nothing', 'tokens', (f) => f()]] },
  },
  './react': {
    CorrectablesProvider: COMPONENT,
    Hydrate: COMPONENT,
    useCorrectable: HOOK,
    useOperation: HOOK,
    usePrefetch: HOOK,
    prefetch: {
      shows: '',
      whole: [],
      parts: [
        ['nothing', 'client', (f) => f()],
        ['a write', 'operation', (f) => f(store(), put('a', 1))],
        [
          'an unknown level',
          'until',
          (f) => f(store(), get('a'), { until: 'exact' }),
          'UNKNOWN_LEVEL',
        ],
      ],
    },
    dehydrate: { shows: '', whole: [], parts: [['nothing', 'client', (f) => f()]] },
  },
};
