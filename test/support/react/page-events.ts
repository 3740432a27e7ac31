/**
 * Events of the page. All scenarios on a page get them, so each of these needs the page for itself.
 */
import { createElement as h } from 'react';
import { get } from '../../../src/operations/index.ts';
import { idle, same, Shown, type Stage } from './stage.ts';

const A = get('a');

export const pageEvents: Readonly<Record<string, (stage: Stage) => Promise<void>>> = {
  async 'offline and back, and focus → what is on the page asks again, if it should'(stage) {
    const show = (refreshOn: readonly ('focus' | 'online')[]): void =>
      stage.render(h(Shown, { stage, operation: A }), { refreshOn });
    show(['online']);
    const call = await stage.binding.next();
    call.view(1, 'weak');
    call.fail(new Error('offline'));
    await stage.shows('1 weak… FINAL_FAILED');
    await idle();
    window.dispatchEvent(new window.Event('focus'));
    same(stage.binding.calls.length, 1);
    window.dispatchEvent(new window.Event('online'));
    (await stage.binding.next()).view(2, 'strong');
    await stage.shows('2 strong');
    show(['focus']);
    await idle();
    window.dispatchEvent(new window.Event('online'));
    window.dispatchEvent(new window.Event('focus'));
    (await stage.binding.next()).view(3, 'strong');
    await stage.shows('3 strong');
    same(stage.binding.calls.length, 3);
  },

  async 'a page is shown again, or comes from the cache of the browser → it asks again; hidden or loaded → it does not'(
    stage,
  ) {
    stage.render(h(Shown, { stage, operation: A }), { refreshOn: ['focus'] });
    (await stage.binding.next()).view(1, 'strong');
    await stage.shows('1 strong');
    await idle();
    const setVisibility = (value: string): void => {
      Object.defineProperty(document, 'visibilityState', { value, configurable: true });
      document.dispatchEvent(new window.Event('visibilitychange', { bubbles: true }));
    };
    const showPage = (persisted: boolean): void =>
      void window.dispatchEvent(Object.assign(new window.Event('pageshow'), { persisted }));
    setVisibility('hidden');
    showPage(false);
    same(stage.binding.calls.length, 1);
    setVisibility('visible');
    (await stage.binding.next()).view(2, 'strong');
    await stage.shows('2 strong');
    showPage(true);
    (await stage.binding.next()).view(3, 'strong');
    await stage.shows('3 strong');
    Reflect.deleteProperty(document, 'visibilityState');
    same(stage.binding.calls.length, 3);
  },
};
