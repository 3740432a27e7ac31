/** The direction of dependencies (docs/ARCHITECTURE.md, "Folders"): each rule names what it protects. */
const { dirname } = require('node:path');
const entries = require('./scripts/entries.json');

const library = '^src/(correctable|operations|policies|bindings|transport|protocol|rxjs)/';
/** What runs in Node alone: a binding's own folder, or an entry beside one that runs anywhere. */
const anywhere = new Set(entries.filter(({ runs }) => runs === 'anywhere').map(({ source }) => dirname(source)));
const inNode = entries
  .filter(({ runs }) => runs === 'in Node')
  .map(({ source }) => (anywhere.has(dirname(source)) ? `^${source}$` : `^${dirname(source)}/`));
const tests = '^(demo|bench|engines|test|scripts)/';

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'core-imports-nothing',
      comment: 'The abstraction has no dependencies: it runs anywhere.',
      severity: 'error',
      from: { path: '^src/correctable/' },
      to: { pathNot: '^src/correctable/' },
    },
    {
      name: 'operations-import-the-core-only',
      severity: 'error',
      from: { path: '^src/operations/' },
      to: { pathNot: '^src/(operations|correctable)/' },
    },
    {
      name: 'policies-know-the-core-only',
      severity: 'error',
      from: { path: '^src/policies/' },
      to: { pathNot: '^src/(policies|correctable)/' },
    },
    {
      name: 'entry-re-exports-the-core-only',
      severity: 'error',
      from: { path: '^src/index\\.ts$' },
      to: { pathNot: '^src/correctable/' },
    },
    {
      name: 'a-binding-imports-no-other-binding',
      severity: 'error',
      from: { path: '^src/bindings/([^/]+)/' },
      to: { path: '^src/bindings/', pathNot: '^src/bindings/$1/' },
    },
    {
      name: 'bindings-stay-clear-of-the-server',
      comment: 'A page that imports a binding must not pull the server.',
      severity: 'error',
      from: { path: library },
      to: { path: '^src/(server|cli|testing)/' },
    },
    {
      name: 'engine-clients-are-shared-by-engines-only',
      comment: 'What our own clients of real engines share runs in Node: nothing that a browser loads may import it.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(engine-client/|bindings/(zookeeper|cassandra)/)' },
      to: { path: '^src/engine-client/' },
    },
    {
      name: 'engine-clients-know-the-core-only',
      severity: 'error',
      from: { path: '^src/engine-client/' },
      to: { path: '^src/', pathNot: '^src/(engine-client|correctable)/' },
    },
    {
      name: 'local-bindings-use-no-wire',
      severity: 'error',
      from: { path: '^src/bindings/(?!remote|redblue)[^/]+/' },
      to: { path: '^src/(protocol|transport)/' },
    },
    {
      name: 'protocol-is-shared-by-both-ends',
      severity: 'error',
      from: { path: '^src/protocol/' },
      to: { path: '^src/', pathNot: '^src/(protocol|correctable|operations)/' },
    },
    {
      name: 'transport-knows-the-protocol-only',
      severity: 'error',
      from: { path: '^src/transport/' },
      to: { path: '^src/', pathNot: '^src/(transport|protocol|correctable)/' },
    },
    {
      name: 'browser-safe',
      comment: 'These entries bundle for a browser.',
      severity: 'error',
      from: { path: library, pathNot: inNode },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'the-gateway-hosts-any-binding',
      comment: 'It must not know which backend stands behind the binding.',
      severity: 'error',
      from: { path: '^src/server/gateway/' },
      to: { path: '^src/server/(redblue|log|storage)/' },
    },
    {
      name: 'replica-purity',
      comment: 'The replica and the log are pure state machines: the simulator runs the code that production runs.',
      severity: 'error',
      from: { path: '^src/server/(redblue|log)/' },
      to: {
        pathNot: '^src/(server/(redblue|log)|protocol|correctable)/',
      },
    },
    {
      name: 'production-imports-no-tests',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/testing/' },
      to: { path: `${tests}|^src/testing/` },
    },
    {
      name: 'demos-use-the-published-entries',
      severity: 'error',
      from: { path: '^(demo|bench)/' },
      to: { path: '^src/' },
    },
    {
      name: 'the-judge-shares-nothing',
      comment: 'What the ticket shop prints is found in its history by code of its own.',
      severity: 'error',
      from: { path: '^demo/tickets/judge/' },
      to: { pathNot: '^demo/tickets/judge/', dependencyTypesNot: ['core'] },
    },
    {
      name: 'zod-by-its-version',
      comment: 'Of paths that zod 3.25 has too: beside that one, a contract says what is wrong, and not the loader.',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^node_modules/zod/(?!v4)' },
    },
    { name: 'no-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true, pathNot: '^correctables' } },
    {
      name: 'declared-dependencies-only',
      comment:
        'zod is a peer: contracts are made with that of the application. The others are optional, or looked for at run time.',
      severity: 'error',
      from: { path: '^src/' },
      to: {
        dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'],
        pathNot: '^node_modules/(zod|tsx|rxjs|classic-level|cassandra-driver)/',
      },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules|^dist' },
    exclude: { path: '^dist' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'types', 'node', 'default'] },
  },
};
