/** Listings 1 to 7 of the paper (Correctables, OSDI 2016) run as they stand in docs/listings. */
import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { output } from './bundle.ts';

const folder = new URL('../../docs/listings/', import.meta.url);

const printed: Readonly<Record<string, readonly string[]>> = {
  'listing-1': [
    "first read: [ 'hello' ]",
    "cached: [ 'hello' ]",
    "bypassing the cache: [ 'hello', 'again' ]",
  ],
  'listing-2': [
    "first read: [ 'hello' ]",
    "weak, from the cache: [ 'hello' ]",
    "strong, bypassing it: [ 'hello', 'again' ]",
    "weak, coherent again: [ 'hello', 'again' ]",
    "cache: [ 'hello', 'again' ]",
    "strong: [ 'hello', 'again' ]",
  ],
  'listing-3': [
    'speculate on: Alan',
    'deliver: Hello, Alan!',
    'speculate on: Alan',
    'undo what was done for: Alan',
    'speculate on: Ada',
    'deliver: Hello, Ada!',
  ],
  'listing-4': [
    'fetching: ad:tea',
    "deliver: [ 'Tea (en)' ]",
    'fetching: ad:tea',
    'fetching: ad:tea, ad:bike',
    "deliver: [ 'Tea (en)', 'Bikes (en)' ]",
  ],
  'listing-5': [
    'confirmed early, 3 left',
    'confirmed early, 2 left',
    'confirmed',
    'confirmed',
    'Sold out. Sorry!',
    'play: true false',
  ],
  'listing-6': [
    'backup: Storm nears · Cup final tonight',
    'primary: Storm passes · Cup final tonight',
    'cache: Storm passes · Cup final tonight',
    'up to date',
  ],
  'listing-7': ['weak: undefined', 'strong: new'],
};

describe('listings', () => {
  test('each listing has its expected output here', async () => {
    const files = (await readdir(folder)).filter((file) => file.startsWith('listing-'));
    expect(files.toSorted()).toEqual(Object.keys(printed).map((name) => `${name}.ts`));
  });

  test.each(Object.entries(printed))('%s → prints what its comments say', async (name, lines) => {
    const code = await readFile(new URL(`${name}.ts`, folder), 'utf8');
    const text = await output(code, `${name}.ts`);
    expect(text.trimEnd().split('\n')).toEqual(lines);
  });
});
