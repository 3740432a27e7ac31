/** The table of docs/spec/http-views.md, run through cell by cell. */
import { expect, test } from 'vitest';
import { respondWithViews } from '../../../src/http/index.ts';
import { correctable, CorrectableError } from '../../../src/index.ts';
import { readStateTable } from '../../support/state-table.ts';

function open() {
  const { correctable: served, sink } = correctable([
    'weak',
    'causal',
    'strong',
  ]).withSink<unknown>();
  const client = new AbortController();
  const request = { headers: {}, signal: client.signal };
  const reply = respondWithViews(served, { request, onError: () => {} }).then(async (response) => ({
    status: response.status,
    body: (response.body as ReadableStream<Uint8Array>).getReader(),
  }));
  return { served, sink, client, reply };
}

type Exchange = ReturnType<typeof open>;

const STATES: Readonly<Record<string, (exchange: Exchange) => unknown>> = {
  'no view yet': () => {},
  'after a view': ({ sink }) => sink.view('old', 'weak'),
  'after the final view': ({ sink }) => sink.view('old', 'strong'),
};

const EVENTS: Readonly<Record<string, (exchange: Exchange) => unknown>> = {
  'preliminary view': ({ sink }) => sink.view('new', 'causal'),
  'final view': ({ sink }) => sink.view('new', 'strong'),
  'final view of an equal value': ({ sink }) => sink.view('old', 'strong'),
  'failure with a code': ({ sink }) => sink.fail(new CorrectableError('UNAVAILABLE', 'later')),
  'failure of the store itself': ({ sink }) => sink.fail(new Error('disk')),
  'a value that cannot be sent': ({ sink }) => sink.view(new Map(), 'causal'),
  'the client leaves': ({ client }) => client.abort(),
};

/** Streams of this process pass a chunk on within a few turns. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** What has been sent since the last call: a status first, if there is a reply now. */
function watch({ reply, served }: Exchange): () => string[] {
  const sent: string[] = [];
  void (async () => {
    const { status, body } = await reply;
    sent.push(String(status));
    for (let step = await body.read(); !step.done; step = await body.read()) {
      const message = JSON.parse(new TextDecoder().decode(step.value)) as Readonly<
        Record<string, unknown>
      >;
      sent.push('error' in message ? 'error' : 'value' in message ? 'value' : 'confirmation');
    }
    sent.push('end');
  })();
  let isCanceled = false;
  served.onError(({ code }) => (isCanceled = code === 'ABORTED'));
  return () => [...sent.splice(0), ...(isCanceled ? ['canceled'] : [])];
}

test.each(readStateTable('http-views'))(
  '$state, $event → $outcome',
  async ({ state, event, outcome }) => {
    const exchange = open();
    const read = watch(exchange);
    STATES[state]!(exchange);
    await settled();
    read();
    EVENTS[event]!(exchange);
    await settled();
    expect(read().join(' ') || 'nothing').toBe(outcome);
    exchange.served.cancel();
  },
);
