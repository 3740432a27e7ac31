/**
 * Reports that React has committed what it renders now.
 *
 * React reports no commit for a component that fails before it is mounted: it has no effects, and
 * React renders it several times before the error boundary shows the error. So each provider has a
 * witness. It suspends with the components that wait for a read, and is resumed with them. React
 * renders everything that was resumed in one pass and commits it together, so an effect of the
 * witness marks that commit. The time between two renders was rejected as a sign: slow components
 * beside this one can make it arbitrarily long.
 */
import * as React from 'react';
import { systemClock, type Timer } from '../correctable/clock.ts';

type Report = () => void;

/**
 * What a suspended witness throws, so that React waits for it. Once it has ended, React renders the
 * witness again. Its `reports` are called when React has committed that render.
 */
interface Pause {
  /** Differs from the ids of all other pauses. */
  readonly id: number;
  isOver: boolean;
  readonly reports: Set<Report>;
  readonly endIfAwaited: () => void;
  // oxlint-disable-next-line unicorn/no-thenable -- that is what React waits for
  then(wake: () => void): void;
}

/** The witness of one provider. It calls back asynchronously, never while React renders. */
export interface Witness {
  /** Suspends, as a component below does. */
  readonly suspend: () => void;
  /**
   * Calls `report` once React has committed everything that components requested to render until
   * now.
   */
  readonly report: (report: Report) => void;
  /**
   * Connects the component that suspends: `setPause` passes a new pause to it. Returns a function
   * that disconnects it.
   */
  readonly attach: (setPause: (pause: Pause) => void) => () => void;
  /** Calls the reports, because React has committed what it resumed. */
  readonly onCommit: () => void;
}

/**
 * How long a failed component may be rendered again if no witness is on its page, in milliseconds.
 * A later render counts as a new component.
 */
const UNWITNESSED_MS = 2_000;

function callLater(callback: () => void): void {
  startIdleTimer(callback, UNWITNESSED_MS);
}

/** Starts a timer that does not keep the process running. */
export function startIdleTimer(onTime: () => void, delayMs: number): Timer {
  const timer = systemClock.setTimer(onTime, delayMs);
  timer.setRef?.(false);
  return timer;
}

/** Calls `report` once all witnesses have reported. */
export function reportCommit(witnesses: ReadonlySet<Witness>, report: Report): void {
  let missing = witnesses.size;
  if (!missing) callLater(report);
  for (const witness of witnesses)
    witness.report(() => {
      missing--;
      if (!missing) report();
    });
}

let lastId = 0;

/**
 * Creates a pause. It ends once it has a report and React waits for it. React then renders the
 * witness again.
 */
function createPause(): Pause {
  const wakers = new Set<() => void>();
  const pause: Pause = {
    id: ++lastId,
    isOver: false,
    reports: new Set(),
    endIfAwaited() {
      if (!wakers.size || !pause.reports.size) return;
      pause.isOver = true;
      wakers.forEach((wake) => wake());
      wakers.clear();
    },
    // oxlint-disable-next-line unicorn/no-thenable -- that is what React waits for
    then(wake) {
      wakers.add(wake);
      // React is rendering or committing, so end the pause only after that.
      queueMicrotask(pause.endIfAwaited);
    },
  };
  return pause;
}

export function createWitness(): Witness {
  let setPause: ((pause: Pause) => void) | undefined;
  let pause: Pause | undefined;

  const onCommit = (): void => {
    const reports = pause?.reports;
    pause = undefined;
    reports?.forEach((report) => report());
  };

  const getPause = (): Pause => {
    if (!pause) {
      pause = createPause();
      setPause?.(pause);
    }
    return pause;
  };

  return {
    suspend: () => queueMicrotask(() => void getPause()),
    report: (report) =>
      queueMicrotask(() => {
        const { reports, endIfAwaited } = getPause();
        reports.add(report);
        endIfAwaited();
        // A provider that suspends itself is not mounted, so it has no witness. Use a timer
        // instead.
        if (!setPause) callLater(() => !setPause && reports.delete(report) && report());
      }),
    attach(set) {
      setPause = set;
      if (pause) set(pause);
      return () => {
        setPause = undefined;
        onCommit();
      };
    },
    onCommit,
  };
}

/**
 * Rendered by each provider, after the components that it reports on. Each pause has a new
 * Suspense: React 18 delays the fallback of a Suspense that is mounted already. It may then commit
 * the witness before the components that were resumed with it.
 */
export function CommitWitness({ witness }: { readonly witness: Witness }): React.ReactNode {
  const [pause, setPause] = React.useState<Pause>();
  React.useEffect(() => witness.attach(setPause), [witness]);
  return (
    pause &&
    React.createElement(
      React.Suspense,
      { key: pause.id, fallback: null },
      React.createElement(Waiting, { pause, onCommit: witness.onCommit }),
    )
  );
}

interface WaitingProps {
  readonly pause: Pause;
  readonly onCommit: () => void;
}

function Waiting({ pause, onCommit }: WaitingProps): null {
  if (!pause.isOver) throw pause as unknown;
  React.useEffect(onCommit, [pause]);
  return null;
}
