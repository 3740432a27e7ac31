/** The parts of the documentation site that need neither its builder nor a browser. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readContents } from '../../../site/contents.ts';
import { escapeTags } from '../../../site/escape-tags.ts';
import { serveSite } from '../../../site/static-files.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

test('the table of contents → sections with their pages', () => {
  const markdown = [
    '# Documentation',
    '## Start',
    '| Page | Read it to |',
    '|---|---|',
    '| [Overview](start/overview.md) | learn the library |',
    '| [A program](listings/a.ts) | run it |',
    '## Empty',
  ].join('\n');
  expect(readContents(markdown)).toEqual([
    {
      title: 'Start',
      pages: [{ title: 'Overview', path: 'start/overview.md', purpose: 'learn the library' }],
    },
  ]);
});

test.each([
  ['## correctables cluster <action>', '## correctables cluster &lt;action>'],
  ['`--port <n>` takes <n>', '`--port <n>` takes &lt;n>'],
  ['``a ` <b>`` and <b>', '``a ` <b>`` and &lt;b>'],
  ['```ts\nconst a = <T>() => 1;\n```\n<T>', '```ts\nconst a = <T>() => 1;\n```\n&lt;T>'],
  ['<!-- a comment --> 1 < 2', '<!-- a comment --> 1 < 2'],
])('%j → %j', (markdown, escaped) => {
  expect(escapeTags(markdown)).toBe(escaped);
});

test('an address → a file of the folder, and none outside of it', async () => {
  const folder = temporaryFolder();
  const site = join(folder, 'site');
  mkdirSync(join(site, 'guides'), { recursive: true });
  writeFileSync(join(folder, 'secret.txt'), 'secret');
  for (const name of ['index.html', 'guides/views.html', 'guides/index.html'])
    writeFileSync(join(site, name), name);
  const { server, url } = await serveSite(site, 0);
  onTestFinished(() => void server.close());
  const read = async (address: string): Promise<unknown> => {
    const response = await fetch(`${url}${address}`);
    return response.ok ? await response.text() : response.status;
  };
  const addresses = [
    '',
    'guides/views',
    'guides/views.html',
    'guides/',
    'none',
    '..%2fsecret.txt',
    '..%5csecret.txt',
    '%',
  ];
  expect(await Promise.all(addresses.map(read))).toEqual([
    'index.html',
    'guides/views.html',
    'guides/views.html',
    'guides/index.html',
    404,
    404,
    404,
    404,
  ]);
  expect((await fetch(new URL('/', url), { redirect: 'manual' })).headers.get('location')).toBe(
    '/docs/',
  );
});
