/**
 * Numbers the requests of a session over all its connections: servers match
 * late answers by session and number.
 */

/** Numbers stay below the bits that say something else. */
const MAX_NUMBER = 2 ** 29 - 1;

export function createRequestNumbers(first = 1): () => number {
  let next = first;
  return () => {
    const number = next;
    next = number === MAX_NUMBER ? 1 : number + 1;
    return number;
  };
}

/**
 * For a session that another client began. Its last number is unknown, so this
 * one begins anywhere.
 */
export function createRandomRequestNumbers(): () => number {
  return createRequestNumbers(1 + Math.floor(Math.random() * MAX_NUMBER));
}
