/** A Correctable by the store contract of Svelte. */
import { expect, expectTypeOf, test } from 'vitest';
import { get as read } from 'svelte/store';
import { correctable, type Correctable, type Snapshot } from '../../../src/index.ts';
import { readable } from '../../../src/store/index.ts';

const LEVELS = ['weak', 'strong'] as const;
type Two = typeof LEVELS;

const create = () => correctable(LEVELS).withSink<string>();
const describeSnapshot = ({ state, latest, error }: Snapshot<unknown, Two>): string =>
  [state, latest?.value, error?.code].filter((part) => part !== undefined).join(' ');

function follow(views: Correctable<string, Two>): { readonly shown: string[]; leave(): void } {
  const shown: string[] = [];
  const leave = readable(views).subscribe((snapshot) => shown.push(describeSnapshot(snapshot)));
  return { shown, leave };
}

const delivered = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('subscribed before the views → the present state at once, then each view', async () => {
  const { correctable: views, sink } = create();
  const { shown } = follow(views);
  expect(shown).toEqual(['pending']);
  sink.view('old', 'weak');
  sink.view('new', 'strong');
  await delivered();
  expect(shown).toEqual(['pending', 'pending old', 'final new']);
});

test('subscribed late → the latest view at once, and once', async () => {
  const { correctable: views, sink } = create();
  sink.view('old', 'weak');
  const { shown } = follow(views);
  expect(shown).toEqual(['pending old']);
  await delivered();
  expect(shown).toEqual(['pending old']);
});

test('the operation fails → the last view stays, with the error', async () => {
  const { correctable: views, sink } = create();
  const { shown } = follow(views);
  sink.view('old', 'weak');
  sink.fail(new Error('down'));
  await delivered();
  expect(shown).toEqual(['pending', 'pending old', 'error old FINAL_FAILED']);
});

test('unsubscribed → nothing more is shown, and the operation goes on', async () => {
  const { correctable: views, sink } = create();
  const { shown, leave } = follow(views);
  leave();
  sink.view('new', 'strong');
  await delivered();
  expect(shown).toEqual(['pending']);
  expect(await views).toBe('new');
});

test("Svelte's own get → the present state", () => {
  const { correctable: views, sink } = create();
  sink.view('old', 'weak');
  const snapshot = read(readable(views));
  expectTypeOf(snapshot).toEqualTypeOf<Snapshot<string, Two>>();
  expect(snapshot.latest?.value).toBe('old');
});
