/**
 * The direction of dependencies: layers are in `scripts/layers.json` (docs/ARCHITECTURE.md shows them); here is
 * what no layer can say. Each rule names what it protects.
 */
const { dirname } = require('node:path');
const entries = require('./scripts/entries.json');
const { rulesOf } = require('./scripts/layers.cjs');

const library =
  '^src/(correctable|operations|policies|bindings|transport|protocol|contract|http|react|rxjs|store|tanstack-query|transactions|research)/';
/** What runs in Node alone: a binding's own folder, or an entry beside one that runs anywhere, with its folder. */
const anywhere = new Set(
  entries.filter(({ runs }) => runs === 'anywhere').map(({ source }) => dirname(source)),
);
const inNode = entries
  .filter(({ runs }) => runs === 'in Node')
  .map(({ source }) =>
    anywhere.has(dirname(source))
      ? `^${source.replace(/\.ts$/, '')}(\\.ts$|/)`
      : `^${dirname(source)}/`,
  );
/** The rooms of the server that are pure machines. */
const machines = 'src/server/(site|log|check|service)/';
const tests = '^(demo|bench|engines|research|test|scripts)/';

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    ...rulesOf(),
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'browser-safe',
      comment: 'These entries bundle for a browser.',
      severity: 'error',
      from: { path: library, pathNot: [...inNode, '^src/bindings/shared/'] },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'production-imports-no-tests',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/testing/' },
      to: { path: `${tests}|^src/testing/` },
    },
    {
      name: 'the-verifier-shares-nothing',
      comment: 'What the ticket shop prints is found in its history by code of its own.',
      severity: 'error',
      from: { path: '^demo/tickets/verify/' },
      to: { pathNot: '^demo/tickets/verify/', dependencyTypesNot: ['core'] },
    },
    {
      name: 'sources-by-their-paths',
      comment:
        'The package by its own name is what was built last, and the rows of folders do not see through it.',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(correctables(/|$)|dist/)' },
    },
    {
      name: 'machines-are-pure',
      comment:
        'The simulator runs what a site runs: of packages, of Node, of disks and alarms it knows nothing.',
      severity: 'error',
      from: { path: `^${machines}` },
      to: { pathNot: `^src/(correctable|values|operations|contract|protocol)/|^${machines}` },
    },
    {
      name: 'one-door-to-the-codec-of-disks',
      comment:
        'What lies on disks is not changed by a change of the wire: one file knows by which codec it is written.',
      severity: 'error',
      from: {
        path: '^src/server/node/(storage|transfer)/',
        pathNot: '^src/server/node/storage/format/value-text\\.ts$',
      },
      to: { path: '^src/protocol/codec/' },
    },
    {
      name: 'zod-by-its-version',
      comment:
        'Of paths that zod 3.25 has too: beside that one, a contract says what is wrong, and not the loader.',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^node_modules/zod/(?!v4)' },
    },
    {
      name: 'no-unresolvable',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true, pathNot: '^correctables' },
    },
    {
      name: 'declared-dependencies-only',
      comment:
        'zod is a peer: contracts are made with that of the application. The others are optional, or looked for at run time.',
      severity: 'error',
      from: { path: '^src/' },
      to: {
        dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'],
        pathNot:
          '^node_modules/(@grpc/grpc-js|@tanstack/query-core|jose|prom-client|zod|tsx|react|rxjs|classic-level|cassandra-driver|ws)/',
      },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules|^dist' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'types', 'node', 'default'],
    },
  },
};
