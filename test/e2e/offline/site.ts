/**
 * What the offline page comes from and asks: one address for the page, its service worker, tokens
 * and the gateway, which can be gone.
 */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { createClient } from '../../../src/correctable/client/client.ts';
import {
  blue,
  createEmbedded,
  createGateway,
  defineService,
  listenGateways,
  register,
  table,
  type Embedded,
  type GatewayListener,
} from '../../../src/server/index.ts';
import { notes } from './contract.ts';

const SERVICE = defineService(notes, {
  tables: { notes: table({ text: register<string>() }) },
  shadowOperations: ({ notes: rows }) => ({
    write: blue((a: { owner: string; text: string }) => [rows.row(a.owner).text.write(a.text)]),
  }),
  generators: {
    write: (args, { shadow }) => shadow.write(args, null),
    read: ({ owner }, { tables }) => tables.notes.row(owner).text ?? null,
  },
});

/** What is served, by path. */
type Files = ReadonlyMap<string, readonly [type: string, body: string]>;

const createFile = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

export class NotesSite implements AsyncDisposable {
  /** How many reads the gateway has let in. */
  reads = 0;
  readonly #files: Files;
  readonly #deployment: Embedded<'here'> = createEmbedded(SERVICE, { sites: ['here'] });
  #port = 0;
  #open: { readonly server: Server; readonly listener: GatewayListener } | undefined;

  private constructor(files: Files) {
    this.#files = files;
  }

  static async start(): Promise<NotesSite> {
    const bundled = await build({
      entryPoints: [createFile('page.ts')],
      bundle: true,
      format: 'esm',
      platform: 'browser',
      target: 'es2022',
      write: false,
    });
    const script = bundled.outputFiles[0]?.text ?? '';
    const site = new NotesSite(
      new Map([
        ['/', ['text/html', await readFile(createFile('page.html'), 'utf8')]],
        ['/page.js', ['text/javascript', script]],
        ['/worker.js', ['text/javascript', await readFile(createFile('worker.js'), 'utf8')]],
      ]),
    );
    await site.comeBack();
    return site;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/`;
  }

  /** Another device writes. */
  async write(owner: string, text: string): Promise<void> {
    await using client = createClient(this.#deployment.site('here'));
    await client.invoke(notes.write({ owner, text }));
  }

  /**
   * From now on nothing answers at its address: no page, no token, no gateway. What is stored
   * stays.
   */
  async goAway(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    await open?.listener.close({ drainMs: 0 });
    open?.server.closeAllConnections();
    open?.server.close();
  }

  /** Answers at its address again. */
  async comeBack(): Promise<void> {
    const server = createServer();
    server.listen(this.#port, '127.0.0.1');
    await once(server, 'listening');
    this.#port = (server.address() as AddressInfo).port;
    const gateway = createGateway({
      binding: this.#deployment.site('here'),
      site: 'here',
      contract: notes,
      // A name is accepted as a token: this test is about the device, not about authentication.
      authenticate: (token = '') => ({ id: token }),
      authorize: ({ id }, { name, args }) => {
        if (name === 'read') this.reads += 1;
        return (args as { owner: string }).owner === id;
      },
    });
    const listener = await listenGateways({ server, sites: { here: gateway } });
    server.on('request', (request, response) => {
      if (listener.handleHttp(request, response)) return;
      const { pathname, searchParams } = new URL(request.url ?? '/', this.url);
      const [type, body] = this.#files.get(pathname) ?? [
        'text/plain',
        searchParams.get('user') ?? '',
      ];
      response.writeHead(200, { 'content-type': type, 'cache-control': 'no-store' }).end(body);
    });
    this.#open = { server, listener };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.goAway();
    await this.#deployment.close();
  }
}
