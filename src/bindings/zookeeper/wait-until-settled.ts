/** Resolves when all promises have settled, with any outcome, or when the time is over. */
export async function waitUntilSettled(
  ms: number,
  work: Iterable<PromiseLike<unknown>>,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
  await Promise.race([Promise.allSettled(work), tooLate]);
  clearTimeout(timer);
}
