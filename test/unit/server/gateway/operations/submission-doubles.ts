/** A submission with everything around it made by the test. */
import { BOUNDLESS } from '../../../../support/wire.ts';
import type { BindingSession } from '../../../../../src/correctable/binding.ts';
import type { Codec, EncodedMessage } from '../../../../../src/protocol/codec/codec.ts';
import { jsonCodec } from '../../../../../src/protocol/codec/json-codec.ts';
import { msgpackCodec } from '../../../../../src/protocol/codec/msgpack-codec.ts';
import type { ServerMessage } from '../../../../../src/protocol/messages/server-messages.ts';
import {
  ConnectionLoad,
  LoadSlot,
  ReceivedFrame,
  TotalLoad,
} from '../../../../../src/server/gateway/limits/in-flight-load.ts';
import { OperationStats } from '../../../../../src/server/gateway/operations/operation-stats.ts';
import { HostedOperation } from '../../../../../src/server/gateway/operations/hosted-operation.ts';
import { RetainedWrite } from '../../../../../src/server/gateway/operations/retained-write.ts';
import type {
  Outlet,
  RepeatableOperation,
  RepeatableWrite,
} from '../../../../../src/server/gateway/clients/client-table.ts';

export class OutletDouble implements Outlet {
  readonly rows: unknown[][] = [];
  isFull = false;
  ends = 0;

  push(row: ServerMessage): void {
    this.pushEncoded(jsonCodec.encodeMessage(row));
  }

  pushEncoded(row: EncodedMessage): void {
    const codec = typeof row === 'string' ? jsonCodec : msgpackCodec;
    this.rows.push(...(codec.decode(codec.frame([row])) as unknown[][]));
  }

  onEnded(): void {
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

/** A read keeps no reply. */
type MaybeRetained = RepeatableOperation & Partial<RepeatableWrite>;

/** What is remembered of the update. */
export class Memory {
  entry: MaybeRetained | undefined;
  /** The entry, once the update has ended. */
  readonly #budget: BudgetDouble;

  constructor(budget: BudgetDouble) {
    this.#budget = budget;
  }

  forget(): void {
    this.#budget.give(this.entry?.forget?.() ?? 0);
  }

  repeat(outlet: Outlet): void {
    if (this.entry === undefined) throw new Error('nothing is remembered');
    this.entry.repeat(outlet, newLoad());
  }
}

export const newLoad = (): ConnectionLoad => new ConnectionLoad(new TotalLoad(BOUNDLESS));

export function start(
  strongest = 2,
  access: 'read' | 'write' = 'write',
  codec: Codec = jsonCodec,
  session?: BindingSession,
): {
  submission: HostedOperation & MaybeRetained;
  outlet: OutletDouble;
  anomalies: string[];
  budget: BudgetDouble;
  memory: Memory;
  load: ConnectionLoad;
} {
  const outlet = new OutletDouble();
  const anomalies: string[] = [];
  const budget = new BudgetDouble();
  const memory = new Memory(budget);
  const load = newLoad();
  const owner = {
    record: {
      key: 'ada/1',
      acknowledged: 0,
      tryReserve: (bytes: number) => budget.take(bytes),
      reserve: (bytes: number) => budget.charge(bytes),
      release: (bytes: number) => budget.give(bytes),
      onEnded: (_: unknown, as: RepeatableWrite) => void (memory.entry = as),
    },
    codec,
    levels: ['tentative', 'causal', 'strong'],
    maxResultBytes: 1_000,
    onAnomaly: (_: unknown, description: string) => void anomalies.push(description),
  };
  const parts = {
    id: 7,
    name: 'put',
    isWrite: access === 'write',
    strongest,
    deadlineAt: undefined,
    receivedAt: 0,
    figures: undefined,
    stats: new OperationStats(undefined),
    principal: { id: '' },
    slot: new LoadSlot(load, new ReceivedFrame(0)),
  };
  const Submission = access === 'write' ? RetainedWrite : HostedOperation;
  const submission: HostedOperation & MaybeRetained = new Submission(
    owner,
    parts,
    outlet,
    session,
    undefined,
  );
  memory.entry = submission;
  return { submission, outlet, anomalies, budget, memory, load };
}
