/**
 * The process of the clients: each visit is one client of a hostile server, whose outcomes must be true, and which must
 * end.
 */
import { WebSocket } from 'ws';
import { exponentialBackoff, remote } from '../../src/bindings/remote/index.ts';
import { createClient } from '../../src/index.ts';
import { Random } from '../../src/server/collections/random.ts';
import { bump, count } from '../support/hostile/counting-store.ts';
import { within } from '../support/hostile/guard.ts';
import { getCallOutcome } from '../support/hostile/outcomes.ts';
import { LEVELS } from '../support/wire.ts';
import { measured } from './measure.ts';
import type { FromTarget, MarkedOutcome, ToTarget } from './messages.ts';

const TIMEOUT_MS = 1_500;
/** Much later than any operation can end. */
const HUNG_MS = 30_000;

let visiting = 0;
const tell = (message: FromTarget): void => void process.send?.(message);

process.on('message', (message: ToTarget) => {
  if (message.kind === 'visit') void visit(message.url, message.seed);
  else void measured(visiting).then((measure) => tell({ kind: 'measured', measure, executed: {} }));
});
process.on('disconnect', () => process.exit());

async function visit(url: string, seed: number): Promise<void> {
  visiting++;
  const random = new Random(seed);
  const binding = remote({
    // The second address is tried where the first cannot be had.
    url: random.chance(0.3) ? [`${url}${seed}`, `${url}${seed}/2`] : `${url}${seed}`,
    levels: LEVELS,
    WebSocket,
    codec: random.chance(0.5) ? 'json' : 'msgpack',
    connectTimeoutMs: 300,
    heartbeatIntervalMs: 100,
    pongTimeoutMs: 100,
    reconnect: exponentialBackoff({ initialDelayMs: 5, maxDelayMs: 50 }),
  });
  const client = createClient(binding, { timeoutMs: TIMEOUT_MS });
  const hung: string[] = [];
  const reported: MarkedOutcome[] = [];
  const work: Promise<void>[] = [];
  const follow = (mark: string, operation: PromiseLike<unknown>, isUpdate: boolean): void => {
    const end = within<Awaited<ReturnType<typeof getCallOutcome>> | undefined>(
      getCallOutcome(operation),
      HUNG_MS,
      undefined,
    );
    work.push(
      end.then((stated) => {
        if (stated === undefined) hung.push(mark);
        else if (isUpdate) reported.push({ mark, ...stated });
      }),
    );
  };
  for (let i = random.between(1, 8); i > 0; i--) {
    const mark = `visit-${seed}-${i}`;
    const signal = random.chance(0.2) ? AbortSignal.timeout(random.between(1, 200)) : undefined;
    const isUpdate = random.chance(0.7);
    follow(mark, client.invoke(isUpdate ? bump(mark) : count(mark), { signal }), isUpdate);
    if (random.chance(0.5)) await new Promise((resolve) => setTimeout(resolve, random.between(0, 30)));
  }
  if (random.chance(0.8)) await Promise.all(work);
  if (
    !(await within(
      client.close().then(() => true),
      HUNG_MS,
      false,
    ))
  )
    hung.push('close');
  await Promise.all(work);
  visiting--;
  tell({ kind: 'visited', outcomes: reported, hung });
}

tell({ kind: 'ready', urls: {} });
