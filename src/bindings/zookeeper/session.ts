/** What an application's session has seen: the last transaction of its updates and reads. */
import type { BindingSession } from '../../correctable/binding.ts';

export class ReadSession implements BindingSession {
  #zxid = 0n;

  close(): void {
    this.#zxid = 0n;
  }

  /** Whether a view of a server that has applied all transactions up to `zxid` is not behind. */
  admits(zxid: bigint): boolean {
    return zxid >= this.#zxid;
  }

  advanceTo(zxid: bigint): void {
    if (zxid > this.#zxid) this.#zxid = zxid;
  }
}
