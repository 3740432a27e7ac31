/** Reports that only an operator can make the cluster accept the binding. */
import { isThenable } from '../../correctable/validate.ts';
import { describeRefusal } from './errors.ts';

/** A condition that an operator should know. */
export interface CassandraAlarm {
  /**
   * `access-refused`: the cluster rejects the credentials, or the binding rejects the certificate
   * of the cluster. All operations fail until that is corrected.
   */
  readonly code: 'access-refused';
  readonly message: string;
}

export type AlarmListener = (alarm: CassandraAlarm) => unknown;

export class AccessAlarms {
  readonly #onAlarm: AlarmListener;
  #isRefused = false;

  constructor(onAlarm: AlarmListener = emitWarning) {
    this.#onAlarm = onAlarm;
  }

  /** Reports a refusal, once until the cluster is reached again. */
  reportRefusal(error: unknown): void {
    if (this.#isRefused) return;
    this.#isRefused = true;
    const reason = describeRefusal(error);
    const alarm: CassandraAlarm = {
      code: 'access-refused',
      message: `cassandra: the connection is refused: ${reason}. All operations fail. Correct the credentials, the role or the certificate. The binding then works again by itself.`,
    };
    try {
      const value = this.#onAlarm(alarm);
      if (isThenable(value)) value.then(undefined, () => emitWarning(alarm));
    } catch {
      emitWarning(alarm);
    }
  }

  recordAccess(): void {
    this.#isRefused = false;
  }
}

function emitWarning({ code, message }: CassandraAlarm): void {
  process.emitWarning(message, { code });
}
