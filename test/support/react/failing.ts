/** Scenarios of reads that fail before there is a view. */
import {
  createElement as h,
  StrictMode,
  Suspense,
  useState,
  useTransition,
  type ReactNode,
} from 'react';
import { get } from '../../../src/operations/index.ts';
import { useCorrectable } from '../../../src/react/index.ts';
import type { Scenario } from './reading.ts';
import { Boundary, idle, same, Shown, until, type Stage } from './stage.ts';

const A = get('a');

/** Rows that a slow device renders in about 200 ms, so that React renders them in many turns. */
const ROWS = 30;
const ROW_MS = 7;

function Row(): ReactNode {
  const from = performance.now();
  while (performance.now() - from < ROW_MS);
  return '.';
}

/** New elements at each call: React renders them again. */
const slowRows = (): ReactNode =>
  Array.from({ length: ROWS }, (_, key) => h(Row, { key: `row ${key}` }));

const guarded = (key: string, node: ReactNode): ReactNode => h(Boundary, { key, children: node });

const dots = '.'.repeat(ROWS);

async function fails(stage: Stage): Promise<void> {
  (await stage.binding.next()).fail(new Error('down'));
}

/** Presses each button that an error boundary shows. */
function reset({ element }: Stage): void {
  element.querySelectorAll('button').forEach((button) => button.click());
}

/** Presses the buttons until there are this many requests. */
async function resetUntilAsked(stage: Stage, requests: number): Promise<void> {
  await until(() => {
    reset(stage);
    return stage.binding.calls.length === requests;
  });
}

async function resetTwice(stage: Stage, wrap: (node: ReactNode) => ReactNode): Promise<void> {
  // Both wait in one Suspense, which React 18 may render again apart from the other updates of the
  // page.
  const page = [
    guarded('one', h(Shown, { stage, operation: A })),
    guarded('two', h(Shown, { stage, operation: A })),
  ];
  stage.render(wrap([...page, slowRows()]));
  for (const requests of [1, 2]) {
    await fails(stage);
    await stage.shows(`caught FINAL_FAILEDcaught FINAL_FAILED${dots}`);
    await idle();
    same(stage.binding.calls.length, requests);
    reset(stage);
  }
  (await stage.binding.next()).view(1, 'strong');
  await stage.shows(`1 strong1 strong${dots}`);
  await idle();
  same(stage.binding.calls.length, 3);
}

/** Each keeps the page busy for seconds. */
export const failingBesideSlowRows: Readonly<Record<string, Scenario>> = {
  async 'a failure beside slow rows → the error boundaries show it after one request, each reset asks once'(
    stage,
  ) {
    await resetTwice(stage, (node) => h(Suspense, { fallback: 'loading' }, node));
  },

  async 'a failure beside slow rows, in StrictMode → the same'(stage) {
    await resetTwice(stage, (node) =>
      h(StrictMode, null, h(Suspense, { fallback: 'loading' }, node)),
    );
  },

  async 'a failure in a transition beside slow rows → the error boundary shows it after one request'(
    stage,
  ) {
    let go = (_key: string): void => {};
    const Page = (): ReactNode => {
      const [key, setKey] = useState('a');
      const [, startTransition] = useTransition();
      go = (next) => startTransition(() => setKey(next));
      return [guarded('one', h(Shown, { stage, operation: get(key) })), slowRows()];
    };
    stage.render(h(Page));
    (await stage.binding.next()).view(1, 'strong');
    await stage.shows(`1 strong${dots}`);
    go('b');
    await fails(stage);
    await stage.shows(`caught FINAL_FAILED${dots}`);
    await idle();
    same(stage.binding.calls.length, 2);
    // In the first half second, the boundary shows the error again when it is reset: see
    // `docs/spec/react.md`.
    await resetUntilAsked(stage, 3);
    (await stage.binding.next()).view(2, 'strong');
    await stage.shows(`2 strong${dots}`);
    same(stage.binding.calls.length, 3);
  },
};

export const failing: Readonly<Record<string, Scenario>> = {
  async 'a failure, while another component shows it without suspending → one request'(stage) {
    const beside = h(
      Suspense,
      { key: 2, fallback: 'wait' },
      guarded('one', h(Shown, { stage, operation: A })),
    );
    stage.render([h(Shown, { key: 1, stage, operation: A, suspend: false }), beside]);
    await fails(stage);
    await stage.shows('nothing FINAL_FAILEDcaught FINAL_FAILED');
    await idle();
    same(stage.binding.calls.length, 1);
    reset(stage);
    (await stage.binding.next()).view(1, 'strong');
    await stage.shows('1 strong1 strong');
    same(stage.binding.calls.length, 2);
  },

  async 'a failure, then a new component for the same read → it asks again'(stage) {
    stage.render(guarded('one', h(Shown, { stage, operation: A })));
    await fails(stage);
    await stage.shows('caught FINAL_FAILED');
    stage.render(null);
    await stage.shows('');
    stage.render(guarded('two', h(Shown, { stage, operation: A })));
    (await stage.binding.next()).view(1, 'strong');
    await stage.shows('1 strong');
    same(stage.binding.calls.length, 2);
  },

  async 'a failure without a provider → the error boundary shows it after one request, a late reset asks again'(
    stage,
  ) {
    const Own = (): ReactNode => String(useCorrectable(A, { client: stage.client }).value);
    stage.render(guarded('one', h(Own)), { isProvided: false });
    await fails(stage);
    await stage.shows('caught FINAL_FAILED');
    await idle();
    same(stage.binding.calls.length, 1);
    await resetUntilAsked(stage, 2);
    (await stage.binding.next()).view(1, 'strong');
    await stage.shows('1');
  },

  async 'a kept result → has the fields that it had when it was rendered'(stage) {
    const kept: { value: unknown; pending: boolean }[] = [];
    const Keep = (): ReactNode => {
      const result = useCorrectable(A, { suspend: false });
      kept.push(result);
      return `${String(result.value)} ${result.pending}`;
    };
    stage.render(h(Keep));
    const call = await stage.binding.next();
    await stage.shows('undefined true');
    call.view(12, 'weak');
    await stage.shows('12 true');
    call.view(11, 'strong');
    await stage.shows('11 false');
    const changes = kept
      .map(({ value, pending }) => `${String(value)} ${pending}`)
      .filter((text, at, all) => text !== all[at - 1]);
    same(changes, ['undefined true', '12 true', '11 false']);
  },
};
