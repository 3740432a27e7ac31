/** Numbers the requests of a session over all its connections: servers match late answers by session and number. */

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
