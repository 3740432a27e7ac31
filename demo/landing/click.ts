/**
 * One click: opens the page in one way, on a separate store, and records each step with its time.
 */
import { isCorrectableError } from 'correctables';
import type { Scenario } from './scenario.ts';
import { openStore } from './store.ts';
import type { Answer, Goods, Page } from './ways/shop.ts';
import { WAYS, type WayName } from './ways/ways.ts';

/** How the goods look to the customer: `unmarked` goods look certain. */
type ShownState = 'unmarked' | 'confirming' | 'confirmed';

/** A step, with the milliseconds since the click. */
export type Step = { readonly atMs: number } & (
  | { readonly kind: 'shown'; readonly goods: Goods; readonly state: ShownState }
  | { readonly kind: 'allowed' }
  | { readonly kind: 'pressed'; readonly price: number }
  | { readonly kind: 'answered'; readonly answer: Answer }
  | { readonly kind: 'failed'; readonly during: 'opening' | 'buying'; readonly code: string }
);

/**
 * A read at the shop's own server, with the milliseconds since the click. It has no end while it
 * travels.
 */
export interface Read {
  readonly key: string;
  readonly fromMs: number;
  readonly toMs: number | undefined;
}

/** What has happened so far. */
export interface Click {
  readonly way: WayName;
  readonly scenario: Scenario;
  /** The start time, by `performance.now()`. */
  readonly beganAt: number;
  readonly steps: readonly Step[];
  readonly reads: readonly Read[];
}

export interface RunningClick extends Click {
  /** Presses Buy. Has no effect before buying is allowed, and at the second time. */
  press(): void;
  /**
   * Resolves when nothing changes any more: the page is complete, and a customer who has pressed
   * Buy has the answer.
   */
  readonly settled: Promise<void>;
  /** Closes the store. */
  close(): Promise<void>;
}

export interface ClickOptions {
  readonly scenario: Scenario;
  /** Whether the customer presses Buy as soon as the page allows it. */
  readonly buysAtOnce: boolean;
  readonly onStep: (click: RunningClick) => void;
}

/**
 * Opens the store of a click. Returns a function that begins the click, so that all ways can begin
 * at the same moment.
 */
export async function prepareClick(
  way: WayName,
  options: ClickOptions,
): Promise<() => RunningClick> {
  const { scenario, buysAtOnce, onStep } = options;
  const reads: Read[] = [];
  let beganAt = performance.now();
  const getElapsedMs = (): number => performance.now() - beganAt;
  const shop = await openStore(scenario, (key) => {
    const at = reads.push({ key, fromMs: getElapsedMs(), toMs: undefined }) - 1;
    return () => {
      const read = reads[at];
      if (read?.toMs === undefined) reads[at] = { ...(read as Read), toMs: getElapsedMs() };
    };
  });
  return () => {
    beganAt = performance.now();
    const steps: Step[] = [];
    const note = (step: StepWithoutTime): void => {
      steps.push({ ...step, atMs: getElapsedMs() });
      onStep(click);
    };
    const noteFailure =
      (during: 'opening' | 'buying') =>
      (error: unknown): void =>
        note({
          kind: 'failed',
          during,
          code: isCorrectableError(error) ? error.code : String(error),
        });
    const page: Page = {
      show: (goods, state: ShownState = 'unmarked') => note({ kind: 'shown', goods, state }),
      allowBuying: () => {
        note({ kind: 'allowed' });
        if (buysAtOnce) press();
      },
      answer: (answer) => note({ kind: 'answered', answer }),
    };
    let buying: Promise<void> | undefined;
    const press = (): void => {
      const price = shownPrice(steps);
      if (
        buying !== undefined ||
        price === undefined ||
        !steps.some(({ kind }) => kind === 'allowed')
      )
        return;
      note({ kind: 'pressed', price });
      buying = WAYS[way].buy(shop, page).catch(noteFailure('buying'));
    };
    const settle = async (): Promise<void> => {
      await WAYS[way].open(shop, page).catch(noteFailure('opening'));
      await buying;
    };
    const settled = settle();
    const close = async (): Promise<void> => {
      await shop.close();
      await settled;
    };
    // The object is complete before the first step, because the store answers later.
    const click: RunningClick = { way, scenario, beganAt, steps, reads, press, settled, close };
    return click;
  };
}

type StepWithoutTime = Step extends infer S ? (S extends Step ? Omit<S, 'atMs'> : never) : never;

/** Returns the price that the page shows after these steps. */
export function shownPrice(steps: readonly Step[]): number | undefined {
  return steps.findLast((step) => step.kind === 'shown')?.goods.offer.price;
}
