/**
 * Compares three ways to show a product on a page: `useCorrectable`, two queries of TanStack Query,
 * and `use`. It measures in a real browser when the user sees a value, and what that costs. There
 * are three sites with the delays of the Correctables paper.
 */
import { fileURLToPath } from 'node:url';
import { brotliCompressSync } from 'node:zlib';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import { launchChromium } from '../harness/chromium.ts';
import { EngineUnavailable } from '../../engines/engine.ts';
import { runAdaptiveRounds } from '../harness/adaptive-rounds.ts';
import type { Bench, Outcome, Settings } from '../harness/bench.ts';
import { answer, ended, startChild } from '../harness/children.ts';
import { checkDelay } from '../harness/preconditions.ts';
import { versionsOf } from '../harness/provenance.ts';
import { rotate } from '../harness/rotate.ts';
import { median } from '../harness/statistics.ts';
import { SERVER_FLAGS } from '../load/processes.ts';
import { computeGoalResults, packSamples, rowOf, type Sample, type Samples } from './goals.ts';
import { renderProducts, type RenderedProduct } from './render.ts';
import type { Visit, Visited } from './page.ts';
import { WAY_NAMES } from './ways.ts';

/**
 * The origin of the page. No server listens there, because the benchmark itself answers the
 * browser's requests.
 */
const ORIGIN = 'http://127.0.0.1:1';
/** The round trip from the user to the nearest site, in milliseconds. */
const USER_MS = 20;
/**
 * Visits by each way in a round. In every second visit, another client buys the product meanwhile.
 */
const FULL = { rounds: 7, visits: 32, pages: 20, warmUps: 4 };
const QUICK = { rounds: 1, visits: 4, pages: 3, warmUps: 2 };

interface PageGlobals {
  visit(item: Visit): Promise<Visited>;
  hydrate(html: string, state: RenderedProduct['state'], product: string): Promise<number>;
}

export const react: Bench = {
  name: 'react',
  about:
    'a product on a page by useCorrectable, by two queries and by use: paints, renders, requests and bytes',
  run,
};

async function run({ quick, progress }: Settings): Promise<Outcome> {
  const { rounds: roundCount, visits, pages, warmUps } = quick ? QUICK : FULL;
  const { browser, reason } = await launchChromium();
  if (browser === undefined) throw new EngineUnavailable(reason);
  const server = startChild(new URL('server.ts', import.meta.url), [ORIGIN], [SERVER_FLAGS]);
  try {
    const urls = await answer<{ readonly reader: string; readonly seller: string }>(server);
    const page = await openPage(browser, urls);
    const once = {
      hydrationRequests: await hydratePages(page, urls.seller, pages),
      ...(await measureReact()),
    };
    const visitAll = async (round: number, count: number): Promise<readonly Sample[]> => {
      const samples: Sample[] = [];
      for (let turn = 0; turn < count; turn += 1)
        for (const way of rotate(WAY_NAMES, round + turn))
          samples.push(
            await visit(page, { way, turn: `${round} ${turn}`, isSold: turn % 2 === 0 }),
          );
      return samples;
    };
    progress('warming up');
    await visitAll(-1, warmUps);
    const measure = async (round: number, of: string): Promise<readonly Sample[]> => {
      progress(of);
      return visitAll(round, visits);
    };
    const samplesOf = (rounds: readonly (readonly Sample[])[]): Samples => ({ rounds, ...once });
    const rounds = await runAdaptiveRounds(measure, {
      rounds: roundCount,
      ...(quick && { looks: 1 }),
      computeGoalResults: (soFar) => computeGoalResults(samplesOf(soFar)),
    });
    const all = rounds.flat();
    check(all);
    return {
      rounds: rounds.length,
      rows: WAY_NAMES.map((way) => rowOf(way, all)),
      bars: computeGoalResults(samplesOf(rounds)),
      samples: packSamples(samplesOf(rounds)),
      versions: {
        ...versionsOf('react', 'react-dom', '@tanstack/react-query'),
        chromium: browser.version(),
      },
      flags: [SERVER_FLAGS],
    };
  } finally {
    await browser.close();
    await ended(server);
  }
}

/** Opens the page at its own origin. The browser loads only the script of the page. */
async function openPage(browser: Browser, urls: Readonly<Record<string, string>>): Promise<Page> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('page.ts', import.meta.url))],
    bundle: true,
    format: 'esm',
    minify: true,
    define: { 'process.env.NODE_ENV': '"production"' },
    write: false,
  });
  const page = await browser.newPage();
  page.on('pageerror', (error) => console.error(error));
  const body = '<!doctype html><title>product</title><main></main>';
  await page.route(`${ORIGIN}/`, (route) => route.fulfill({ contentType: 'text/html', body }));
  await page.goto(`${ORIGIN}/`);
  await page.evaluate((value) => void Object.assign(globalThis, { urls: value }), urls);
  await page.addScriptTag({ content: outputFiles[0]!.text, type: 'module' });
  await page.waitForFunction(() => 'hydrate' in globalThis);
  return page;
}

interface Turn extends Omit<Visit, 'product'> {
  readonly turn: string;
}

/** Visits a product. Each visit is to a different product. */
async function visit(page: Page, { way, turn, isSold }: Turn): Promise<Sample> {
  const item: Visit = { way, product: `${WAY_NAMES.indexOf(way)} ${turn}`, isSold };
  const visited = await page.evaluate(
    (value) => (globalThis as unknown as PageGlobals).visit(value),
    item,
  );
  return { way, isSold, ...visited };
}

async function hydratePages(page: Page, url: string, count: number): Promise<readonly number[]> {
  const requests: number[] = [];
  for (const { html, state, product } of await renderProducts(url, count)) {
    const hydrate = (item: RenderedProduct): Promise<number> =>
      (globalThis as unknown as PageGlobals).hydrate(item.html, item.state, item.product);
    requests.push(await page.evaluate(hydrate, { html, state, product }));
  }
  return requests;
}

/**
 * Returns the size that `correctables/react` adds to a page with the library, and the size that
 * only its reads add, minified and compressed.
 */
async function measureReact(): Promise<Pick<Samples, 'reactBytes' | 'readsBytes'>> {
  const library = "export * from 'correctables';";
  const sizeOf = async (others: string): Promise<number> => {
    const { outputFiles } = await build({
      stdin: {
        contents: library + others,
        resolveDir: fileURLToPath(new URL('.', import.meta.url)),
      },
      external: ['react'],
      bundle: true,
      format: 'esm',
      target: 'es2022',
      minify: true,
      write: false,
    });
    return brotliCompressSync(outputFiles[0]!.contents).length;
  };
  const alone = await sizeOf('');
  const entry = "'correctables/react'";
  return {
    reactBytes: (await sizeOf(`export * from ${entry};`)) - alone,
    readsBytes:
      (await sizeOf(`export { CorrectablesProvider, useCorrectable } from ${entry};`)) - alone,
  };
}

/**
 * The minimum share of visits with a sale that paint both values. With fewer, the times of final
 * values would be too short.
 */
const CORRECTED_MIN = 0.9;

/** Checks that the delays are in effect, and that final views correct preliminary ones. */
function check(samples: readonly Sample[]): void {
  for (const way of ['useCorrectable', 'two queries'] as const) {
    const visits = samples.filter((item) => item.way === way);
    checkDelay(way, {
      ms: median(visits.map(({ firstPaintMs }) => firstPaintMs)),
      atLeastMs: USER_MS,
    });
    const sold = visits.filter(({ isSold }) => isSold);
    const corrected = sold.filter(({ isCorrected }) => isCorrected).length;
    if (corrected < CORRECTED_MIN * sold.length)
      throw new Error(
        `${way}: only ${corrected} of ${sold.length} visits with a sale saw the value before it`,
      );
  }
}
