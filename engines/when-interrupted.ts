/**
 * What a program stops when it is interrupted: engines are processes of their own, which would
 * stay.
 */
type CleanUp = () => Promise<unknown>;
type Ending = keyof typeof EXIT_CODES;

/** What shells make of the end by a signal. */
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;
const ENDINGS = Object.keys(EXIT_CODES) as Ending[];

const cleanUpCallbacks = new Set<CleanUp>();
let isStopping = false;

/**
 * Whether the program was interrupted, and ends as soon as all is stopped: what fails now fails
 * because of that.
 */
export const isInterrupted = (): boolean => isStopping;

/**
 * Until the function that it returns is called, `cleanUp` runs when the program is interrupted,
 * which then ends as the signal would have ended it. A second signal ends it at once.
 */
export function whenInterrupted(cleanUp: CleanUp): () => void {
  if (cleanUpCallbacks.size === 0) for (const ending of ENDINGS) process.on(ending, onInterrupt);
  cleanUpCallbacks.add(cleanUp);
  return () => {
    cleanUpCallbacks.delete(cleanUp);
    if (cleanUpCallbacks.size === 0) stopListening();
  };
}

function onInterrupt(ending: NodeJS.Signals): void {
  isStopping = true;
  stopListening();
  process.stderr.write(
    '\nstopping the engines that were started for this; again to leave them running\n',
  );
  void Promise.allSettled([...cleanUpCallbacks].map((cleanUp) => cleanUp())).then((outcomes) => {
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') console.error(String(outcome.reason));
    process.exit(EXIT_CODES[ending as Ending]);
  });
}

function stopListening(): void {
  for (const ending of ENDINGS) process.off(ending, onInterrupt);
}
