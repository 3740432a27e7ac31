import type { Column, NoCell } from '../support/faults.ts';

const NO_STORE: NoCell = { absentBecause: 'the gateway has no data. See the store behind it' };

export const httpRemote = {
  store: 'HTTP and remote',
  page: 'bindings/http.md',
  cells: {
    killed: {
      meanwhile:
        'Reads fail with `UNAVAILABLE` (`http`), or wait (`remote`). A write that was sent is `UNKNOWN`, unless `remote` learns from the same gateway that it was made',
      recovery: '`http`: the next request. `remote`: the next attempt to connect, within 5 s',
    },
    frozen: {
      meanwhile:
        'When `timeoutMs` is over, reads fail with `TIMEOUT`, and writes that were sent with `UNKNOWN`. `remote` notices after `pongTimeoutMs`, and sends nothing more: `UNAVAILABLE`',
      recovery: 'As soon as the server goes on',
    },
    cut: {
      meanwhile:
        'Operations in flight fail when `timeoutMs` is over: reads with `TIMEOUT`, writes with `UNKNOWN`',
      recovery:
        'With the next connection. `remote` gives a silent connection up after `pongTimeoutMs`',
    },
    halfOpen: {
      meanwhile: 'As for connections that are cut. The writes have arrived',
      recovery:
        'With the next connection. `remote` sends a write again under its number, so it is made once',
    },
    demoted: NO_STORE,
    promoted: NO_STORE,
    moved: {
      meanwhile: 'As for a server that is killed',
      recovery: 'The name is looked up for each connection',
    },
    crashed: NO_STORE,
    restored: NO_STORE,
    credentials: {
      meanwhile: '`UNAUTHENTICATED`, not `retryable`',
      recovery:
        'With the next operation. `http` reads the headers again for each request, and `remote` calls the function `token` again. A `remote` whose token is a string needs a new client',
    },
    connections: {
      meanwhile:
        'A proxy replies with 429 or 503: `OVERLOADED` or `UNAVAILABLE`, and `UNKNOWN` for a write after 503',
      recovery: 'With the next request',
    },
    space: NO_STORE,
    readOnly: NO_STORE,
    migration: NO_STORE,
    foreignValue: {
      meanwhile: 'A page of a proxy instead of views: `PROTOCOL` for a read, `UNKNOWN` for a write',
      recovery: 'With the next request',
    },
    parsers: { absentBecause: 'views pass no parser that a program can change' },
    callerLeaves: {
      meanwhile:
        'A read is aborted, also at the server. A write that was sent runs to its end: `UNKNOWN`',
      recovery: 'The next operation finds nothing left behind',
    },
  },
} as const satisfies Column;
