/** One execution of a statement: the node that has it, and the attempts that failed. */
import { isAnswer, type NodeHealth } from './node-health.ts';

export class Execution {
  readonly isWrite: boolean;
  /** The errors of attempts that were repeated. */
  readonly earlierErrors: Error[] = [];
  readonly #handleSend: () => boolean;
  #health: NodeHealth | undefined;
  #address: string | undefined;
  #lastAddress: string | undefined;
  #preferredAddress: string | undefined;
  #isRepeated = false;

  /**
   * `handleSend` is called just before the statement is sent. If it returns `false`, the statement
   * is not sent.
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

  /** The last node that the driver has turned to, even after the attempt. */
  get lastAddress(): string | undefined {
    return this.#lastAddress;
  }

  /** The node that the next attempt turns to first, if it is connected. */
  get preferredAddress(): string | undefined {
    return this.#preferredAddress;
  }

  /** Whether an attempt was repeated over the present connection. */
  get isRepeated(): boolean {
    return this.#isRepeated;
  }

  canSend(): boolean {
    return this.#handleSend();
  }

  /** Notes that an attempt begins, over a connection with this health. */
  begin(health: NodeHealth): void {
    this.#leave(false);
    if (this.#health !== health) {
      this.#preferredAddress = undefined;
      this.#isRepeated = false;
    }
    this.#health = health;
  }

  /** Lets the next attempt turn to the last node first. */
  stay(): void {
    this.#preferredAddress = this.#lastAddress;
  }

  /** Notes that the driver turns to a node. */
  moveTo(address: string): void {
    this.#leave(false);
    this.#address = address;
    this.#lastAddress = address;
    this.#health?.recordSent(address);
  }

  /** Notes that an attempt has failed and is repeated. */
  recordRepeat(error: unknown): void {
    this.#isRepeated = true;
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
