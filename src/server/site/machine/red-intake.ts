/**
 * What a site takes of one red log, and what it keeps once the log has halted. No checkpoint is
 * made after a halt, so that all entries stay: beyond a limit the site takes no more updates.
 */
import type { LogOutput } from '../../log/red-log.ts';
import type { RedHalt, RedLogConsumer } from '../../log/red-log-consumer.ts';
import { haltedFullError, redHaltedError, redLogFullError } from '../../records/failures.ts';
import type { RedRecord } from '../../records/records.ts';
import type { RedAdmission } from '../../replica/red/requests/red-admission.ts';
import type { Replica } from '../../replica/replica.ts';
import type { HaltedBytes } from './halted-bytes.ts';

/** The partition whose red log it is. */
interface LogPartition {
  readonly ordinal: number;
  readonly name: string;
}

export class RedIntake {
  readonly #consumer: RedLogConsumer<RedRecord>;
  readonly #bytes: HaltedBytes;
  readonly #replica: Replica;
  readonly #partition: LogPartition;
  #isReported = false;

  /** @param bytes what the site keeps, whichever of its red logs has halted */
  constructor(
    consumer: RedLogConsumer<RedRecord>,
    bytes: HaltedBytes,
    replica: Replica,
    partition: LogPartition,
  ) {
    this.#partition = partition;
    this.#consumer = consumer;
    this.#bytes = bytes;
    this.#replica = replica;
  }

  get halt(): RedHalt | undefined {
    return this.#consumer.halt;
  }

  /** The position in the log of the record that comes next. */
  get next(): number {
    return this.#consumer.next;
  }

  /** Returns the records that are new and come next. */
  take(delivery: LogOutput<RedRecord> & { kind: 'deliver' }): readonly RedRecord[] {
    return this.#consumer.take(delivery);
  }

  stop(halt: RedHalt): void {
    this.#consumer.stop(halt);
  }

  /** Returns the halt of the log if it is new. The site has to report it. */
  takeNewHalt(): RedHalt | undefined {
    const { halt } = this;
    if (halt === undefined || this.#isReported) return undefined;
    this.#isReported = true;
    this.#admission.halted = redHaltedError(halt.message);
    this.#bytes.begin(this.#replica.blue.streams.waitingBytes);
    this.refuseIfFull();
    const { ordinal, name } = this.#partition;
    return ordinal === 0
      ? halt
      : { ...halt, message: `in the partition '${name}' ${halt.message}` };
  }

  /** The server of the log is nearly full, and why. Without a message it is not any more. */
  noteFull(message: string | undefined): void {
    this.#admission.overload = message === undefined ? undefined : redLogFullError(message);
  }

  get #admission(): RedAdmission {
    return this.#replica.red.admissions[this.#partition.ordinal] as RedAdmission;
  }

  /** Refuses updates if the site keeps as much as it may. */
  refuseIfFull(): void {
    if (this.#bytes.isFull) this.#replica.writes.rejection = haltedFullError(this.#bytes.max);
  }
}
