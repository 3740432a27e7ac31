/**
 * One execution of a statement: the node that has it, and the attempts that
 * failed.
 */
import type { NodeHealth } from './node-health.ts';

export class Execution {
  readonly isWrite: boolean;
  /** The errors of attempts that were repeated. */
  readonly earlierErrors: Error[] = [];
  readonly #handleSend: () => boolean;
  #health: NodeHealth | undefined;
  #address: string | undefined;

  /**
   * `handleSend` is called just before the statement is sent. If it returns
   * `false`, the statement is not sent.
   */
  constructor({
    isWrite,
    handleSend = () => true,
  }: {
    readonly isWrite: boolean;
    readonly handleSend?: (() => boolean) | undefined;
  }) {
    this.isWrite = isWrite;
    this.#handleSend = handleSend;
  }

  canSend(): boolean {
    return this.#handleSend();
  }

  /** Notes that an attempt begins, over a connection with this health. */
  begin(health: NodeHealth): void {
    this.#leave(false);
    this.#health = health;
  }

  /** Notes that the driver turns to a node. */
  moveTo(address: string): void {
    this.#leave(false);
    this.#address = address;
    this.#health?.recordSent(address);
  }

  /** Notes that an attempt has failed and is repeated. */
  recordRepeat(error: unknown): void {
    if (this.isWrite && error instanceof Error) this.earlierErrors.push(error);
    this.#leave(isAnswer(error));
  }

  /** Notes the end: `error` if it has failed. */
  end(error?: unknown): void {
    this.#leave(error === undefined || isAnswer(error));
  }

  #leave(isAnswered: boolean): void {
    if (this.#address === undefined) return;
    this.#health?.recordEnded(this.#address, isAnswered);
    this.#address = undefined;
  }
}

/** Returns whether an error is one that the node has sent. */
function isAnswer(error: unknown): boolean {
  return (
    error instanceof Error &&
    typeof (error as { readonly code?: unknown }).code === 'number'
  );
}
