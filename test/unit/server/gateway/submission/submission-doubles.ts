/** A submission with everything around it made by the test. */
import { BOUNDLESS } from '../../../../support/wire.ts';
import type { BindingSession } from '../../../../../src/correctable/binding.ts';
import type { Codec, EncodedRow } from '../../../../../src/protocol/codec/codec.ts';
import { jsonCodec } from '../../../../../src/protocol/codec/json-codec.ts';
import { msgpackCodec } from '../../../../../src/protocol/codec/msgpack-codec.ts';
import type { ServerRow } from '../../../../../src/protocol/rows/server-kinds.ts';
import { Load, LoadPlace, ReceivedFrame, TotalLoad } from '../../../../../src/server/gateway/limits/load.ts';
import { HostedOperation } from '../../../../../src/server/gateway/submission/hosted-operation.ts';
import type { Outlet, RepeatableUpdate } from '../../../../../src/server/gateway/submission/submission-parts.ts';

export class OutletDouble implements Outlet {
  readonly rows: unknown[][] = [];
  isFull = false;
  ends = 0;

  push(row: ServerRow): void {
    this.pushEncoded(jsonCodec.encodeRow(row));
  }

  pushEncoded(row: EncodedRow): void {
    const codec = typeof row === 'string' ? jsonCodec : msgpackCodec;
    this.rows.push(...(codec.decode(codec.frame([row])) as unknown[][]));
  }

  ended(): void {
    this.ends++;
  }
}

/** Bytes that may be kept. */
export class BudgetDouble {
  bytes = 0;
  max = Infinity;

  take(bytes: number): boolean {
    if (this.bytes + bytes > this.max) return false;
    this.bytes += bytes;
    return true;
  }

  charge(bytes: number): void {
    this.bytes += bytes;
  }

  give(bytes: number): void {
    this.bytes -= bytes;
  }
}

/** What is remembered of the update. */
export class Memory {
  entry: RepeatableUpdate | undefined;
  /** The entry, once the update has ended. */
  readonly #budget: BudgetDouble;

  constructor(budget: BudgetDouble) {
    this.#budget = budget;
  }

  forget(): void {
    this.#budget.give(this.entry?.forget() ?? 0);
  }

  repeat(outlet: Outlet): void {
    if (this.entry === undefined) throw new Error('nothing is remembered');
    this.entry.repeat(outlet, newLoad());
  }
}

export const newLoad = (): Load => new Load(new TotalLoad(BOUNDLESS));

export function start(
  strongest = 2,
  effect: 'read' | 'update' = 'update',
  codec: Codec = jsonCodec,
  session?: BindingSession,
): {
  submission: HostedOperation;
  outlet: OutletDouble;
  anomalies: string[];
  budget: BudgetDouble;
  memory: Memory;
  load: Load;
} {
  const outlet = new OutletDouble();
  const anomalies: string[] = [];
  const budget = new BudgetDouble();
  const memory = new Memory(budget);
  const load = newLoad();
  const owner = {
    record: {
      key: 'ada/1',
      acked: 0,
      take: (bytes: number) => budget.take(bytes),
      charge: (bytes: number) => budget.charge(bytes),
      give: (bytes: number) => budget.give(bytes),
      ended: (_: unknown, as: RepeatableUpdate) => void (memory.entry = as),
    },
    codec,
    levels: ['tentative', 'causal', 'strong'],
    resultBytesMax: 1_000,
    onAnomaly: (_: unknown, what: string) => void anomalies.push(what),
  };
  const parts = {
    id: 7,
    name: 'put',
    isUpdate: effect === 'update',
    isKept: effect === 'update',
    strongest,
    deadlineAt: undefined,
    trace: undefined,
    session,
    place: new LoadPlace(load, new ReceivedFrame(0)),
  };
  const submission = new HostedOperation(owner, parts, outlet);
  memory.entry = submission;
  return { submission, outlet, anomalies, budget, memory, load };
}
