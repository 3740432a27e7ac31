/** Tabs of the ticket shop that tell each other of new sales. */
import { expect, test } from 'vitest';
import { OtherTabs } from '../../../demo/tickets/page/other-tabs.ts';

/** A tab, and its next change: resolved when a message of another tab changes it. */
class Tab {
  #heard = (): void => {};
  readonly tabs: OtherTabs;

  constructor(event: string) {
    this.tabs = new OtherTabs(event, () => this.#heard());
  }

  heard(): Promise<void> {
    return new Promise((resolve) => (this.#heard = resolve));
  }
}

test('tabs: one has moved on twice → the other is led to the latest sale', async () => {
  const [here, there] = [new Tab('first'), new OtherTabs('first', () => {})];
  for (const event of ['second', 'third', 'fourth']) {
    const heard = here.heard();
    there.sell(event);
    await heard;
    expect(here.tabs.next).toBe(event);
  }
});

test('tabs: one opens a sale, then another opens one of the same event → the later one', async () => {
  const here = new Tab('origin');
  for (const event of ['a', 'b']) {
    const heard = here.heard();
    new OtherTabs('origin', () => {}).sell(event);
    await heard;
    expect(here.tabs.next).toBe(event);
  }
});

test('tabs: a sale that does not follow from ours, or from which we have moved on → not followed', async () => {
  const [here, there] = [new Tab('mine'), new OtherTabs('theirs', () => {})];
  const witness = new Tab('theirs');
  let heard = witness.heard();
  there.sell('more of theirs');
  await heard;
  expect(here.tabs.next).toBeUndefined();

  here.tabs.sell('mine, again');
  witness.tabs.sell('mine');
  heard = witness.heard();
  new OtherTabs('mine', () => {}).sell('mine, elsewhere');
  await heard;
  expect(here.tabs.next).toBeUndefined();
});
