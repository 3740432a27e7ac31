/**
 * Reports that React has committed what it renders now.
 *
 * React reports no commit for a component that fails before it is mounted: it has no effects, and
 * React renders it several times before the error boundary shows the error. So each provider has a
 * witness. It suspends with the components that wait for a read, and is woken with them. React
 * renders all that was woken in one pass and commits it together, so an effect of the witness marks
 * that commit. The time between two renders was rejected as a sign: slow rows beside the component
 * make it as long as they like.
 */
import * as React from 'react';

type Report = () => void;

/** What a witness waits for. Its reports are called at the commit that follows its end. */
interface Pause {
  isOver: boolean;
  readonly reports: Set<Report>;
  readonly wakers: Set<() => void>;
  // oxlint-disable-next-line unicorn/no-thenable -- that is what React waits for
  then(wake: () => void): void;
}

/** Suspends if it does not wait yet. With a report, it is woken, and calls that at its commit. */
type Witness = (report?: Report) => void;

const witnesses = /* @__PURE__ */ new Set<Witness>();

/**
 * How long a failed component may be rendered again if there is no provider, in milliseconds. A
 * later render counts as a new component.
 */
const UNWITNESSED_MS = 2_000;

/** Prepares the witnesses for `reportCommit`: a component waits for a read. */
export function prepareWitnesses(): void {
  queueMicrotask(() => witnesses.forEach((witness) => witness()));
}

/** Calls `report` when React has committed what it was asked to render until now, on all pages. */
export function reportCommit(report: Report): void {
  // React may be rendering now.
  queueMicrotask(() => {
    let missing = witnesses.size;
    if (missing === 0) {
      const timer = setTimeout(report, UNWITNESSED_MS);
      // A browser's timer is a number.
      (timer as { unref?: () => void }).unref?.();
    }
    const countDown = (): void => {
      missing--;
      if (missing === 0) report();
    };
    // Each witness has a function of its own, since it keeps them in a set.
    witnesses.forEach((witness) => witness(() => countDown()));
  });
}

function createPause(): Pause {
  const wakers = new Set<() => void>();
  return {
    isOver: false,
    reports: new Set(),
    wakers,
    // oxlint-disable-next-line unicorn/no-thenable -- that is what React waits for
    then(wake) {
      if (this.isOver) queueMicrotask(wake);
      else wakers.add(wake);
    },
  };
}

/** Rendered by each provider, after the components that it reports on. */
export function CommitWitness(): React.ReactNode {
  const [pause, setPause] = React.useState<Pause>();
  const latest = React.useRef<Pause | undefined>(undefined);

  const onCommit = React.useCallback(() => {
    const reports = latest.current?.reports;
    latest.current = undefined;
    reports?.forEach((report) => report());
  }, []);

  React.useEffect(() => {
    const witness: Witness = (report) => {
      if (!latest.current) setPause((latest.current = createPause()));
      if (!report) return;
      latest.current.isOver = true;
      latest.current.reports.add(report);
      latest.current.wakers.forEach(queueMicrotask);
      latest.current.wakers.clear();
    };
    witnesses.add(witness);
    return () => {
      witnesses.delete(witness);
      onCommit();
    };
  }, []);

  return (
    pause &&
    React.createElement(
      React.Suspense,
      { fallback: null },
      React.createElement(Waiting, { pause, onCommit }),
    )
  );
}

function Waiting({ pause, onCommit }: { readonly pause: Pause; readonly onCommit: () => void }) {
  if (!pause.isOver) throw pause as unknown;
  React.useEffect(onCommit, [pause]);
  return null;
}
