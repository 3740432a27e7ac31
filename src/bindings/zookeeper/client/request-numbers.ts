/**
 * Numbers the requests of one session, over all its connections, as the Java client does (`ClientCnxn.xid`). Servers match
 * what the ensemble has agreed on to a waiting request by session and number alone: were numbers used again on the next
 * connection, the end of an old request could answer a new one, at another server.
 */

/** Numbers stay below the bits that say something else. */
const MAX_NUMBER = 2 ** 29 - 1;

export class RequestNumbers {
  #next: number;

  constructor(first = 1) {
    this.#next = first;
  }

  /** For a session that another client began. Its last number is unknown, so this one begins anywhere. */
  static startAtRandom(): RequestNumbers {
    return new RequestNumbers(1 + Math.floor(Math.random() * MAX_NUMBER));
  }

  next(): number {
    const number = this.#next;
    this.#next = number === MAX_NUMBER ? 1 : number + 1;
    return number;
  }
}
