/** The components of docs/guides/vue-svelte-solid.md in a real browser, as the page has them. */
import { fileURLToPath } from 'node:url';
import { build, transform, type Plugin } from 'esbuild';
import type { Browser, BrowserContext } from 'playwright-core';
import { compile as compileSvelte } from 'svelte/compiler';
import { compileScript, parse as parseVue } from 'vue/compiler-sfc';
import { afterAll, describe, expect, test } from 'vitest';
import { readPage } from '../docs/guide.ts';
import { getSource } from '../docs/bundle.ts';
import { openBrowser } from './support/browser.ts';
import { openPage } from './support/page-bundle.ts';

const { browser, reason } = await openBrowser();
const subject = reason === undefined ? 'components' : `components (skipped: ${reason})`;
const root = fileURLToPath(new URL('../..', import.meta.url));
const { files, plain } = await readPage('guides/vue-svelte-solid');
const [vueComponent = '', svelteComponent = '', solidComponent = ''] = plain;

/** The page sets the book of the component with `setBook`, and removes it with `leave`. */
const PAGES: Readonly<Record<string, string>> = {
  Vue: `
    import { createApp, h, ref } from 'vue';
    import Stock from './Stock.vue';
    const book = ref('alpha');
    const app = createApp({ render: () => h(Stock, { book: book.value }) });
    app.mount('#root');
    Object.assign(globalThis, { setBook: (name: string) => (book.value = name), leave: () => app.unmount() });`,
  Svelte: `
    import { mount, unmount } from 'svelte';
    import Stock from './Stock.svelte';
    import { props } from './props.svelte.js';
    const stock = mount(Stock, { target: document.querySelector('#root')!, props });
    Object.assign(globalThis, { setBook: (name: string) => (props.book = name), leave: () => unmount(stock) });`,
  Solid: `
    import { createSignal } from 'solid-js';
    import { render } from 'solid-js/web';
    import { Stock } from './Stock.tsx';
    const [book, setBook] = createSignal('alpha');
    const props = { get book() { return book(); } };
    const leave = render(() => Stock(props), document.querySelector('#root')!);
    Object.assign(globalThis, { setBook, leave });`,
};

/** Records the reads that the client has started and canceled. */
const WATCH = `
  Object.assign(globalThis, { events: [] });
  const { invoke } = shop;
  shop.invoke = ((operation, options) => {
    const views = invoke(operation, options);
    events.push('read ' + operation.key);
    views.onError(({ code }) => events.push(code + ' ' + operation.key));
    return views;
  });`;

/** Runs in the page: records each text that it shows. */
function recordLines(): void {
  const lines: string[] = [];
  Object.assign(globalThis, { lines });
  const record = (): void => {
    const text = document.querySelector('#root')?.textContent?.trim() ?? '';
    if (text !== '' && text !== lines.at(-1)) lines.push(text);
  };
  new MutationObserver(record).observe(document, {
    subtree: true,
    childList: true,
    characterData: true,
  });
}

async function compileComponent(name: string): Promise<string> {
  if (name === './Stock.vue') {
    const { descriptor } = parseVue(vueComponent, { filename: 'Stock.vue' });
    const { content } = compileScript(descriptor, { id: 'stock', inlineTemplate: true });
    return (await transform(content, { loader: 'ts' })).code;
  }
  if (name === './Stock.svelte')
    return compileSvelte(svelteComponent, { generate: 'client', dev: false }).js.code;
  const { code } = await transform(solidComponent, {
    loader: 'tsx',
    jsx: 'automatic',
    jsxImportSource: 'solid-js/h',
  });
  return code;
}

const svelteProps = async (): Promise<string> => {
  const { compileModule } = await import('svelte/compiler');
  return compileModule("export const props = $state({ book: 'alpha' });", {
    filename: 'props.svelte.js',
  }).js.code;
};

const modules: Plugin = {
  name: 'modules',
  setup(bundling) {
    bundling.onResolve({ filter: /^correctables(\/|$)/ }, ({ path }) => ({
      path: getSource(path),
    }));
    bundling.onResolve({ filter: /^\.\// }, ({ path, importer, namespace }) =>
      namespace === 'guide' || importer.endsWith('<stdin>')
        ? { path, namespace: 'guide' }
        : undefined,
    );
    bundling.onLoad({ filter: /.*/, namespace: 'guide' }, async ({ path }) => {
      const file = files.get(`${path.slice(2).replace(/\.ts$/, '')}.ts`);
      const watch = path === './shop' ? WATCH : '';
      if (file !== undefined) return { contents: file + watch, loader: 'ts', resolveDir: root };
      const contents =
        path === './props.svelte.js' ? await svelteProps() : await compileComponent(path);
      return { contents, loader: 'js', resolveDir: root };
    });
  },
};

async function bundleFor(framework: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: PAGES[framework]!, loader: 'ts', resolveDir: root, sourcefile: '<stdin>' },
    bundle: true,
    format: 'esm',
    platform: 'browser',
    // Vue asks for these.
    define: {
      __VUE_OPTIONS_API__: 'true',
      __VUE_PROD_DEVTOOLS__: 'false',
      __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: 'false',
    },
    plugins: [modules],
    write: false,
  });
  return outputFiles[0]?.text ?? '';
}

describe.skipIf(browser === undefined)(subject, () => {
  afterAll(() => (browser as Browser).close());

  test.each(Object.keys(PAGES))(
    '%s → draws each view, reads again for another book, cancels when it goes',
    async (name) => {
      const context: BrowserContext = await (browser as Browser).newContext();
      await context.addInitScript(recordLines);
      const { page, errors } = await openPage(context, await bundleFor(name));
      const recorded = (key: 'lines' | 'events'): Promise<string[]> =>
        page.evaluate(
          (list) => (globalThis as unknown as Record<string, string[]>)[list] ?? [],
          key,
        );
      const call = (action: 'setBook' | 'leave', value?: string): Promise<unknown> =>
        page.evaluate(
          ([key, argument]) => {
            (globalThis as unknown as Record<string, (value?: string) => void>)[key]?.(argument);
          },
          [action, value] as const,
        );
      await page.locator('p', { hasText: '6 left' }).waitFor();
      await call('setBook', 'be');
      await page.locator('p', { hasText: '2 …' }).waitFor();
      await call('setBook', 'gamma-ray');
      await page.locator('p', { hasText: '9 …' }).waitFor();
      await call('leave');
      // Frameworks differ in whether the next read or the end of the last one comes first.
      const sorted = async (): Promise<string[]> => (await recorded('events')).toSorted();
      await expect
        .poll(sorted)
        .toEqual(['ABORTED be', 'ABORTED gamma-ray', 'read alpha', 'read be', 'read gamma-ray']);
      expect(await recorded('lines')).toEqual([
        'loading …',
        '5 …',
        '6 left',
        'loading …',
        '2 …',
        'loading …',
        '9 …',
      ]);
      expect(await page.textContent('#root')).toBe('');
      expect(errors).toEqual([]);
      await context.close();
    },
  );
});
