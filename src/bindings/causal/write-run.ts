/**
 * One write. It is repeated with the same id until it has a reply, or until its id is forgotten and
 * the outcome stays unknown (CAUSAL-17).
 */
import type { OperationRefusal } from '../../causal/causal-site.ts';
import type { Stamp } from '../../causal/stamps.ts';
import { CorrectableError } from '../../correctable/errors.ts';
import { OperationRun, type OperationCall } from './operation-run.ts';
import type { ParsedWrite } from './parse-operation.ts';

/** A write has one view, at `causal`: no other site has to agree. */
export class WriteRun extends OperationRun {
  readonly #write: ParsedWrite;
  readonly #id: string;
  /** When the partition was last healed before an attempt that got no reply. */
  #unansweredSince: Stamp | undefined;
  #isInFlight = false;
  #onLanded: (() => void) | undefined;

  constructor(call: OperationCall, write: ParsedWrite) {
    super(call);
    this.#write = write;
    this.#id = call.host.createWriteId();
  }

  start(): void {
    const { host, session } = this.call;
    const healedAt = host.operations.getHealedAt(this.#write.key);
    // The partition was healed since an attempt got no reply. It may have lost the id of the write,
    // so a repetition could overwrite later writes.
    if (this.#unansweredSince !== undefined && this.#unansweredSince !== healedAt)
      return this.fail(this.#createUnknownError('its partition has lost data meanwhile'));

    this.#isInFlight = true;
    host.operations.put(session, { ...this.#write, id: this.#id }, (result) => {
      this.#isInFlight = false;
      if (!this.hasEnded) {
        if ('stamp' in result) this.#complete(result.stamp);
        else this.#handleRefusal(result, healedAt);
      }
      this.#onLanded?.();
    });
  }

  async close(error: CorrectableError): Promise<void> {
    if (this.#isInFlight) await new Promise<void>((resolve) => (this.#onLanded = resolve));
    const isUnknown = this.#unansweredSince !== undefined;
    this.fail(isUnknown ? this.#createUnknownError('the binding was closed') : error);
  }

  #complete(version: Stamp): void {
    const { host, sink } = this.call;
    if (!this.end()) return;
    host.onWritten();
    sink.view(undefined, 'causal', { version, final: true });
  }

  #handleRefusal(refusal: OperationRefusal, healedAt: Stamp): void {
    const { host } = this.call;
    if (refusal.refused === 'UNREACHABLE') this.#unansweredSince ??= healedAt;
    if (this.#unansweredSince !== undefined) return this.#repeat(refusal);
    if (refusal.refused === 'SESSION_AHEAD')
      return this.waitFor(
        () => this.start(),
        () => this.fail(this.createWaitError()),
      );
    const isRetried =
      host.failure === undefined &&
      this.isPassing(refusal) &&
      this.retryWithin(host.siteTimeoutMs, () => this.start());
    if (!isRetried) this.fail(this.createRefusalError(refusal));
  }

  /**
   * Repeats the write after a refusal. An earlier attempt may have been executed, so a refusal does
   * not show that the write failed.
   */
  #repeat({ refused }: OperationRefusal): void {
    if (refused === 'REWOUND')
      return this.fail(this.#createUnknownError('its partition has lost data meanwhile'));
    const { retryWritesForMs } = this.call.host;
    if (this.#onLanded !== undefined) return;
    if (this.retryWithin(retryWritesForMs, () => this.start())) return;
    this.fail(this.#createUnknownError(`no reply came within ${retryWritesForMs} ms`));
  }

  #createUnknownError(cause: string): CorrectableError {
    const message = `The write may have been applied: ${cause}. Read the key before you write it again.`;
    return new CorrectableError('UNKNOWN', message);
  }
}
