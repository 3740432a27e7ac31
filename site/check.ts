/** Opens the pages of the built site in a real browser, and reports what a reader would meet. */
import { readdirSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import type { Browser, Page } from 'playwright-core';
import { launchChromium } from '../bench/harness/chromium.ts';
import { accessibilityFaults } from '../test/support/axe.ts';
import { findPlayFaults } from './check-play.ts';
import { findRunFaults } from './check-runs.ts';
import { findSimulatorFaults } from './check-simulator.ts';
import { serveSite } from './static-files.ts';

const SIZES = {
  desktop: { width: 1280, height: 800 },
  phone: { width: 390, height: 844 },
} as const;

/** The pages that axe looks at. The simulator shows a planted fault then. */
const ACCESSIBLE = [
  'index.html',
  'play.html',
  'simulator.html',
  'examples/react-shop.html',
  'shop/index.html',
  'start/overview.html',
  'start/comparison.html',
  'start/quick-start-react.html',
  'guides/views.html',
  'bindings/postgres.html',
  'redblue/partitions.html',
  'reference/error-codes.html',
  'plots.html',
] as const;

/** The scripts, styles and text of the first page, compressed. */
const MAX_FIRST_PAGE_BYTES = 200_000;
/** A page may be wider than a phone by a rounded pixel. */
const MAX_OVERFLOW_PX = 1;
const API = 'reference/api/';
const PROGRESS_EVERY = 20;

export interface SiteCheck {
  readonly pages: number;
  readonly faults: readonly string[];
}

/** @throws Error if there is no browser */
export async function checkSite(
  folder: string,
  progress: (text: string) => void,
): Promise<SiteCheck> {
  const { browser, reason } = await launchChromium();
  if (browser === undefined) throw new Error(reason);
  const { server, url } = await serveSite(folder, 0);
  try {
    const paths = listPages(folder);
    const faults: string[] = [];
    for (const [name, viewport] of Object.entries(SIZES)) {
      progress(`opening ${paths.length} pages at the width of a ${name}`);
      const runsPrograms = viewport === SIZES.desktop;
      faults.push(
        ...(await openAll(browser, { url, paths, viewport, name, runsPrograms, progress })),
      );
    }
    faults.push(...(await measureFirstPage(browser, url)));
    return { pages: paths.length * Object.keys(SIZES).length, faults };
  } finally {
    await browser.close();
    server.close();
    server.closeAllConnections();
  }
}

/** All pages that people have written, and the first page of the reference. */
function listPages(folder: string): string[] {
  const all = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.html'),
  );
  return all.filter((path) => !path.startsWith(API) || path === `${API}index.html`).toSorted();
}

interface Opening {
  readonly url: string;
  readonly paths: readonly string[];
  readonly viewport: { readonly width: number; readonly height: number };
  readonly name: string;
  /** Whether the Run buttons are pressed. */
  readonly runsPrograms: boolean;
  readonly progress: (text: string) => void;
}

async function openAll(
  browser: Browser,
  { url, paths, viewport, name, runsPrograms, progress }: Opening,
): Promise<string[]> {
  const page = await browser.newPage({ viewport });
  const faults: string[] = [];
  let path = '';
  const note = (fault: string): void => void faults.push(`${path} (${name}): ${fault}`);
  page.on('pageerror', (error) => note(`error in a script: ${error.message}`));
  page.on(
    'console',
    (message) => message.type() === 'error' && note(`on the console: ${message.text()}`),
  );
  page.on('response', (response) => {
    if (!response.ok()) note(`${response.status()} from ${response.url()}`);
  });
  for (const [at, next] of paths.entries()) {
    path = next;
    if (at > 0 && at % PROGRESS_EVERY === 0) progress(`${at} of ${paths.length}`);
    await page.goto(url + path, { waitUntil: 'load' });
    for (const fault of await findPageFaults(page, path)) note(fault);
    if (runsPrograms) for (const fault of await findRunFaults(page)) note(fault);
  }
  await page.close();
  return faults;
}

async function findPageFaults(page: Page, path: string): Promise<string[]> {
  const overflowPx = await page.evaluate(
    () => document.documentElement.scrollWidth - window.innerWidth,
  );
  const faults = overflowPx > MAX_OVERFLOW_PX ? [`is ${overflowPx} pixels too wide`] : [];
  if (path === 'play.html') faults.push(...(await findPlayFaults(page)));
  if (path === 'simulator.html') faults.push(...(await findSimulatorFaults(page)));
  if ((ACCESSIBLE as readonly string[]).includes(path))
    faults.push(...(await accessibilityFaults(page)));
  return faults;
}

async function measureFirstPage(browser: Browser, url: string): Promise<string[]> {
  const page = await browser.newPage();
  const bodies: Promise<Buffer>[] = [];
  page.on('response', (response) => {
    if (/\.(html|js|css)$|\/$/.test(new URL(response.url()).pathname)) bodies.push(response.body());
  });
  await page.goto(url, { waitUntil: 'load' });
  let bytes = 0;
  for (const body of await Promise.all(bodies)) bytes += gzipSync(body).length;
  await page.close();
  if (bytes <= MAX_FIRST_PAGE_BYTES) return [];
  return [`index.html: ${bytes} bytes compressed, at most ${MAX_FIRST_PAGE_BYTES} are allowed`];
}
