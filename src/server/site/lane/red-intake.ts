/**
 * What a site takes of one red log, and what it keeps once the log has halted. No checkpoint is
 * made after a halt, so that all entries stay: beyond a limit the site takes no more updates.
 */
import type { CorrectableError } from '../../../correctable/errors.ts';
import type { LogOutput } from '../../log/red-log.ts';
import type { RedHalt, RedLogConsumer } from '../../log/red-log-consumer.ts';
import {
  haltedFullError,
  redHaltedError,
  redLogFullError,
} from '../../service/records/failures.ts';
import type { RedRecord } from '../../service/records/records.ts';
import type { HaltedBytes } from './halted-bytes.ts';
import type { RedAdmission } from './requests/red-admission.ts';

/** What a halt of a log needs of the site. */
export interface HaltingSite {
  /** The bytes of the operations that wait here. */
  readonly waitingBytes: number;
  /** The site takes no more updates. */
  refuseUpdates(reason: CorrectableError): void;
}

export class RedIntake {
  readonly #consumer: RedLogConsumer<RedRecord>;
  readonly #bytes: HaltedBytes;
  readonly #site: HaltingSite;
  readonly #admission: RedAdmission;
  /** The name of the partition, if it is not `main`. */
  readonly #partition: string | undefined;
  #isReported = false;

  /** @param bytes what the site keeps, whichever of its red logs has halted */
  constructor(
    consumer: RedLogConsumer<RedRecord>,
    bytes: HaltedBytes,
    site: HaltingSite,
    admission: RedAdmission,
    partition: string | undefined,
  ) {
    this.#consumer = consumer;
    this.#bytes = bytes;
    this.#site = site;
    this.#admission = admission;
    this.#partition = partition;
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
    this.#bytes.begin(this.#site.waitingBytes);
    this.refuseIfFull();
    return this.#partition === undefined
      ? halt
      : { ...halt, message: `in the partition '${this.#partition}' ${halt.message}` };
  }

  /** The server of the log is nearly full, and why. Without a message it is not any more. */
  noteFull(message: string | undefined): void {
    this.#admission.overload = message === undefined ? undefined : redLogFullError(message);
  }

  /** Refuses updates if the site keeps as much as it may. */
  refuseIfFull(): void {
    if (this.#bytes.isFull) this.#site.refuseUpdates(haltedFullError(this.#bytes.max));
  }
}
