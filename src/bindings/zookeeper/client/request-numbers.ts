/**
 * Numbers the requests of a session over all its connections. Servers match
 * late replies by session and number.
 */

/** Numbers stay below the bits that have other meanings. */
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
 * Numbers the requests of a session that another client began. Its last number
 * is unknown, so the numbers start at a random one.
 */
export function createRandomRequestNumbers(): () => number {
  return createRequestNumbers(1 + Math.floor(Math.random() * MAX_NUMBER));
}
