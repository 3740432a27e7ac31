/**
 * The page at the address of a server on this machine: its sites and their health, its contract,
 * and a first client.
 */
import { createHash } from 'node:crypto';
import type { RequestListener } from 'node:http';

export interface ShownService {
  readonly contract: {
    readonly name: string;
    readonly operations: Readonly<Record<string, { readonly access: 'read' | 'write' }>>;
  };
}

const STYLE = `
:root { color-scheme: light dark; --ink: light-dark(#1c2126, #e6e8ea); --quiet: light-dark(#58626c, #a2abb4);
  --line: light-dark(#dedcd5, #353c43); --card: light-dark(#fff, #1c2024); --accent: light-dark(#1f5fa8, #79b0f2); }
body { margin: 0 auto; padding: 24px; max-width: 60rem; color: var(--ink); background: light-dark(#f7f6f3, #14171a);
  font: 16px/1.5 system-ui, sans-serif; }
h1 { margin: 0; } h2 { margin: 1.5rem 0 .5rem; font-size: 1.1rem; } p { margin: 0; color: var(--quiet); }
a { display: inline-block; padding: 10px 16px 10px 0; color: var(--accent); }
ul { columns: 16rem; margin: 0; padding-left: 1.2rem; }
table { min-height: 3rem; border-collapse: collapse; } th, td { padding: 4px 24px 4px 0; text-align: left; }
pre { margin: 0 0 8px; padding: 14px; overflow-x: auto; border: 1px solid var(--line); border-radius: 10px; background: var(--card); }
button { min-height: 44px; padding: 0 18px; border: 1px solid var(--line); border-radius: 8px; background: var(--card);
  color: inherit; font: inherit; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
@media (max-width: 40rem) { thead { display: none; } tr { display: block; padding: 6px 0; } td { display: inline-block; padding: 0 12px 0 0; } td:nth-child(n + 3) { display: block; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; font-size: .85rem; } }`;

const SCRIPT = `
const body = document.getElementById('sites');
const cell = (text) => Object.assign(document.createElement('td'), { textContent: text });
const read = async (path) => (await fetch(path, { cache: 'no-store' })).json();
async function show() {
  try {
    const [{ sites }, health] = await Promise.all([read('/sites'), read('/health')]);
    const rows = sites.map(({ name, path, url, levels }) => {
      const row = document.createElement('tr');
      const address = url === undefined ? location.origin.replace(/^http/, 'ws') + path : url + path;
      row.append(cell(name), cell(health.sites?.[name]?.state ?? health.status), cell(address), cell(levels.join(', ')));
      return row;
    });
    body.replaceChildren(...rows);
  } catch {
    body.replaceChildren(cell('The server does not answer.'));
  }
  setTimeout(show, 2000);
}
const code = document.getElementById('client');
code.textContent = code.textContent.replace('SERVER', location.origin.replace(/^http/, 'ws'));
document.getElementById('copy').addEventListener('click', () =>
  navigator.clipboard.writeText(code.textContent).catch(() => getSelection().selectAllChildren(code)));
show();`;

const formatHash = (text: string): string =>
  `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
const POLICY = `default-src 'none'; img-src data:; script-src ${formatHash(SCRIPT)}; style-src ${formatHash(STYLE)}; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** Answers `/` with the page, and every other path with 404. `sites` are those of this process. */
export function createStartPage(service: ShownService, sites: readonly string[]): RequestListener {
  const page = formatStartPage(service, sites);
  return ({ url = '/', method }, response) => {
    const isPage = url.split('?', 1)[0] === '/' && (method === 'GET' || method === 'HEAD');
    if (!isPage) return void response.writeHead(404).end();
    const headers = {
      'content-security-policy': POLICY,
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    };
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', ...headers });
    response.end(method === 'HEAD' ? undefined : page);
  };
}

function formatStartPage(
  { contract: { name, operations } }: ShownService,
  sites: readonly string[],
): string {
  const list = Object.entries(operations).map(
    ([operation, { access }]) => `<li>${escape(operation)}: ${access}</li>`,
  );
  const rows = sites.map(
    (site) => `<tr><td>${escape(site)}</td><td>…</td><td>…</td><td>…</td></tr>`,
  );
  const [first = 'operation'] = Object.keys(operations);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<title>${escape(name)} · correctables</title>
<link rel="icon" href="data:," />
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escape(name)}</h1>
<p>Served by <code>correctables serve</code>. This page is for programs and people of this machine.</p>
<h2>Sites</h2>
<table><thead><tr><th scope="col">Site</th><th scope="col">State</th><th scope="col">Address</th><th scope="col">Levels</th></tr></thead><tbody id="sites">${rows.join('')}</tbody></table>
<h2>Operations</h2>
<ul>${list.join('')}</ul>
<h2>A client</h2>
<pre tabindex="0" aria-label="Code of a client"><code id="client">import { createClient } from 'correctables';
import { redblue } from 'correctables/bindings/redblue';
import { contract } from './contract.js'; // your contract

const client = createClient(redblue(contract, { url: 'SERVER/${escape(sites[0] ?? '')}' }));
const operation = contract.${escape(first)}({ /* its arguments */ });
for await (const view of client.invoke(operation)) console.log(view);</code></pre>
<button id="copy" type="button">Copy</button>
<h2>For operators</h2>
<a href="/health">Health</a><a href="/ready">Ready</a><a href="/metrics">Metrics</a><a href="/sites">Sites as JSON</a>
</main>
<script>${SCRIPT}</script>
</body>
</html>
`;
}

function escape(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
