/** A page on a small DOM, for tests that render in Node. */
import { parseHTML } from 'linkedom';
import type { createRoot as CreateRoot } from 'react-dom/client';
import { afterAll, vi } from 'vitest';

/**
 * Makes the page global until the end of the test file, then loads React, which looks for a page
 * when it loads.
 */
export async function openSmallPage(): Promise<{
  readonly window: Window;
  readonly createRoot: typeof CreateRoot;
}> {
  const { window } = parseHTML('<html><body></body></html>');
  vi.stubGlobal('window', Object.assign(window, { location: new URL('https://page.test/') }));
  vi.stubGlobal('document', window.document);
  vi.stubGlobal('navigator', window.navigator);
  for (const name of ['addEventListener', 'removeEventListener'] as const)
    vi.stubGlobal(name, window[name].bind(window));
  // React recommends tools when it loads.
  const info = vi.spyOn(console, 'info').mockImplementation(() => {});
  const { createRoot } = await import('react-dom/client');
  info.mockRestore();
  // The scheduler of React may look at the page once more.
  afterAll(() => new Promise<void>((resolve) => void setImmediate(resolve)));
  return { window, createRoot };
}
