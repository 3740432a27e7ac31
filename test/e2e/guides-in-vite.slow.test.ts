/**
 * Pastes the guides to React and to TanStack Query into an empty Vite project that has the packed
 * package.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePorts } from '../../engines/ports.ts';
import { execute, installPacked, root } from '../../scripts/smoke-package/project.ts';
import { readPage } from '../docs/guide.ts';
import { openBrowser } from './support/browser.ts';

const PACKAGES = [
  'react',
  'react-dom',
  '@types/react',
  '@types/react-dom',
  '@tanstack/react-query',
  'vite',
];
const INSTALL_TIMEOUT_MS = 300_000;

/** What `npm create vite` writes for React with TypeScript, without its styles and pictures. */
const FILES: Readonly<Record<string, string>> = {
  'index.html':
    '<!doctype html><div id="root"></div><script type="module" src="/src/main.tsx"></script>',
  'src/main.tsx': `import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './App.tsx'

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <App />
  </StrictMode>,
)
`,
  'tsconfig.json': JSON.stringify({
    compilerOptions: {
      target: 'es2023',
      lib: ['ES2023', 'DOM'],
      module: 'esnext',
      moduleResolution: 'bundler',
      allowImportingTsExtensions: true,
      verbatimModuleSyntax: true,
      moduleDetection: 'force',
      types: [],
      skipLibCheck: true,
      noEmit: true,
      jsx: 'react-jsx',
      strict: true,
      noUnusedLocals: true,
      noUnusedParameters: true,
      erasableSyntaxOnly: true,
    },
    include: ['src'],
  }),
};

const { browser, reason } = await openBrowser();
const subject =
  reason === undefined ? 'an empty Vite project' : `an empty Vite project (skipped: ${reason})`;

describe.skipIf(browser === undefined)(subject, () => {
  let project: string;
  let vite: ChildProcess | undefined;

  beforeAll(async () => {
    project = await mkdtemp(join(tmpdir(), 'correctables-vite-'));
    const { devDependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
      devDependencies: Readonly<Record<string, string>>;
    };
    const versions = PACKAGES.map((name) => `${name}@${devDependencies[name]}`);
    await installPacked(project, ['--prefer-offline', ...versions]);
    await mkdir(join(project, 'src'));
    for (const [file, text] of Object.entries(FILES)) await writeFile(join(project, file), text);
  }, INSTALL_TIMEOUT_MS);

  afterAll(async () => {
    vite?.kill();
    await (browser as Browser).close();
    await rm(project, { recursive: true, force: true });
  });

  /** Starts the development server. Returns its address. */
  async function serve(): Promise<string> {
    vite?.kill();
    const [port = 0] = await freePorts(1);
    const options = ['--host', '127.0.0.1', '--port', String(port), '--strictPort'];
    const server = spawn(process.execPath, ['node_modules/vite/bin/vite.js', ...options], {
      cwd: project,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    vite = server;
    for await (const line of createInterface({ input: server.stdout }))
      if (line.includes('ready in')) break;
    server.stdout.resume();
    return `http://127.0.0.1:${port}/`;
  }

  test.each(['react', 'tanstack-query'])(
    'guides/%s → compiles, and shows each view',
    async (name) => {
      const { plain } = await readPage(`guides/${name}`);
      await writeFile(join(project, 'src/App.tsx'), plain.join('\n'));
      const { stdout } = await execute(process.execPath, [
        `${root}node_modules/typescript/bin/tsc`,
        '-p',
        project,
      ]).catch((error: unknown) => error as { stdout: string });
      expect(stdout).toBe('');

      const page = await (browser as Browser).newPage();
      const errors: string[] = [];
      page.on('pageerror', (error) => errors.push(String(error)));
      page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
      await page.addInitScript(() => {
        const shown: string[] = [];
        const note = (): void => {
          const text = document.querySelector('#root')?.textContent?.trim() ?? '';
          if (text !== '' && text !== shown.at(-1)) shown.push(text);
        };
        new MutationObserver(note).observe(document, {
          subtree: true,
          childList: true,
          characterData: true,
        });
        Object.assign(globalThis, { shown });
      });
      await page.goto(await serve());
      const shown = (): Promise<string[]> =>
        page.evaluate(() => (globalThis as unknown as { shown: string[] }).shown);
      await expect.poll(async () => (await shown()).at(-1), { timeout: 60_000 }).toBe('11 left');
      expect(await shown()).toEqual(['loading', '12 left …', '11 left']);
      expect(errors).toEqual([]);
      await page.close();
    },
  );
});
