/** Takes one replica's view as the preliminary one of a read whose final view has been refused already. */
import type { Page, ReadSink } from '../read-path.ts';

export class RefusedSink implements ReadSink {
  readonly #sink: ReadSink;
  readonly #refusal: Error;

  constructor(sink: ReadSink, refusal: Error) {
    this.#sink = sink;
    this.#refusal = refusal;
  }

  final(page: Page): void {
    this.#sink.preliminary(page);
    this.#sink.fail(this.#refusal);
  }

  fail(error: unknown): void {
    this.#sink.preliminaryFailed(error);
    this.#sink.fail(this.#refusal);
  }

  /** One view was asked for: there is none before it. */
  preliminary(): void {}
  preliminaryFailed(): void {}
  confirm(): void {}
}
