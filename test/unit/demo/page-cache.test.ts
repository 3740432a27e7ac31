/** Built pages are kept from one start to the next, also where several start at once. */
import { readdir, rm } from 'node:fs/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { PageFiles } from '../../../demo/page-cache/page-files.ts';
import { keptPage } from '../../../demo/page-cache/page-cache.ts';

const FOLDER = new URL('../../../build/demo/', import.meta.url);
const NAME = `test-${process.pid}`;
const PLACE = new URL(`${NAME}.json`, FOLDER);
/** Bytes that are no text, too. */
const FILES: PageFiles = new Map([
  ['index.html', Buffer.from('<p>12 €</p>')],
  ['assets/dot.png', Buffer.from([0, 255, 137])],
]);

let builds = 0;
let inputs: string;
const build = (): Promise<PageFiles> => {
  builds += 1;
  return Promise.resolve(FILES);
};
const page = (): Promise<PageFiles> => keptPage(NAME, build, () => Promise.resolve(inputs));

beforeEach(() => {
  builds = 0;
  inputs = 'as they are';
});
afterEach(() => rm(PLACE, { force: true }));

test('asked for again → as it was built, without building', async () => {
  expect(await page()).toEqual(FILES);
  expect(await page()).toEqual(FILES);
  expect(builds).toBe(1);
});

test('the inputs have changed → built again, and kept', async () => {
  await page();
  inputs = 'changed';
  await page();
  await page();
  expect(builds).toBe(2);
});

test('several at once → the whole page to each, and no draft is left', async () => {
  const all = await Promise.all(Array.from({ length: 8 }, page));
  for (const files of all) expect(files).toEqual(FILES);
  expect((await readdir(FOLDER)).filter((name) => name.startsWith(NAME))).toEqual([`${NAME}.json`]);
});
