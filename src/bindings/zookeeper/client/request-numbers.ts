/**
 * Numbers the requests of one session, over all its connections, as the Java client does (`ClientCnxn.xid`). Servers match
 * what the ensemble has agreed on to a waiting request by session and number alone: were numbers used again on the next
 * connection, the end of an old request could answer a new one, at another server.
 */

/** Numbers stay below the bits that say something else. */
const NUMBER_MAX = 2 ** 29 - 1;

export class RequestNumbers {
  #next: number;

  constructor(first = 1) {
    this.#next = first;
  }

  /** For a session that another client began: nobody knows how far that one has counted, so this one begins anywhere. */
  static anywhere(): RequestNumbers {
    return new RequestNumbers(1 + Math.floor(Math.random() * NUMBER_MAX));
  }

  next(): number {
    const number = this.#next;
    this.#next = number === NUMBER_MAX ? 1 : number + 1;
    return number;
  }
}
