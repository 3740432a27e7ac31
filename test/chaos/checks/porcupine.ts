/** Whether the queues are linearizable, by a checker that others wrote. */
import {
  buildPorcupine,
  checkQueues,
  type QueueOperation,
} from '../../../engines/porcupine/porcupine.ts';
import { getReportedOutcome } from '../../histories/reported-outcomes.ts';
import type { Evidence } from '../evidence.ts';

const DECIDE_WITHIN_MS = 10_000;

/**
 * Checks the queues of a round once more.
 *
 * @returns what is not linearizable; nothing if porcupine cannot be built, or does not decide in
 * time
 */
export async function porcupineFaults({ operations, round }: Evidence): Promise<string[]> {
  const program = await buildPorcupine().catch(() => undefined);
  if (program === undefined) return [];
  const clients = new Map<string, number>();
  const verdicts = round.queues.map(async (queue) => {
    const calls = operations.filter(
      ({ kind, key }) => key === queue && (kind === 'enqueue' || kind === 'dequeue'),
    );
    const history = calls.flatMap((call): QueueOperation[] => {
      const { kind, input, output, process, beginMs } = call;
      const reported = getReportedOutcome(call);
      if (reported === 'not made') return [];
      if (!clients.has(process)) clients.set(process, clients.size);
      const client = clients.get(process) ?? 0;
      const item =
        kind === 'enqueue'
          ? input
          : (output as { readonly item?: unknown } | null | undefined)?.item;
      return [
        {
          client,
          queue,
          kind: kind === 'enqueue' ? 'enqueue' : 'dequeue',
          callMs: beginMs,
          ...(typeof item === 'string' && { item }),
          ...(reported === 'made' && { returnMs: call.endMs ?? beginMs }),
        },
      ];
    });
    const verdict = await checkQueues(program, history, DECIDE_WITHIN_MS);
    return verdict === 'not linearizable' ? [`porcupine: ${queue} is not linearizable`] : [];
  });
  return (await Promise.all(verdicts)).flat();
}
