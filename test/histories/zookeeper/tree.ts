/**
 * What is in the ensemble, read by ZooKeeper's own client (`TreeReader.java`), and what the recipes
 * make of it.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const READER = fileURLToPath(new URL('TreeReader.java', import.meta.url));
const OUTPUT_BYTES_MAX = 256 * 1024 * 1024;
const READ_MS = 60_000;

/** One node, as the reader prints it. */
export interface TreeNode {
  readonly path: string;
  readonly cversion: number;
  readonly numChildren: number;
  /** In base 64. */
  readonly data: string | null;
}

export interface QueueTree {
  /** Items with their numbers, without those that only take up a number. */
  readonly items: readonly { readonly number: number; readonly item: string }[];
  /** The numbers of the claims that are there. */
  readonly claims: readonly number[];
  /** How many nodes of each kind were ever made: the numbers of the next ones. */
  readonly itemsEver: number;
  readonly claimsEver: number;
}

export interface Tree {
  /** By name. */
  readonly queues: ReadonlyMap<string, QueueTree>;
  readonly keys: ReadonlyMap<string, string>;
  /** By `performance.now()`, after it was read. */
  readonly atMs: number;
}

/** Reads all below `root`. */
export async function readTree({ libraries, address }: TreeSource, root: string): Promise<Tree> {
  const args = [
    '-Dorg.slf4j.simpleLogger.defaultLogLevel=error',
    '-cp',
    join(libraries, '*'),
    READER,
  ];
  const limits = { maxBuffer: OUTPUT_BYTES_MAX, timeout: READ_MS };
  const { stdout } = await run('java', [...args, address, root], limits);
  const lines = stdout.split('\n').filter((line) => line !== '');
  return treeOf(
    root,
    lines.map((line) => JSON.parse(line) as TreeNode),
    performance.now(),
  );
}

/** Whom to ask, and with what. */
export interface TreeSource {
  /** The folder of ZooKeeper's own libraries. */
  readonly libraries: string;
  /** `host:port` of a server. */
  readonly address: string;
}

export function treeOf(root: string, nodes: readonly TreeNode[], atMs: number): Tree {
  const byPath = new Map(nodes.map((node) => [node.path, node]));
  const below = (path: string): TreeNode[] =>
    nodes.filter(
      (node) => node.path.startsWith(`${path}/`) && !node.path.slice(path.length + 1).includes('/'),
    );
  const queueOf = (base: string): QueueTree => ({
    items: below(`${base}/i`).flatMap((node) => {
      const item = valueOf(node);
      return item === undefined ? [] : [{ number: numberAtEnd(node.path), item }];
    }),
    claims: below(`${base}/c`).map(({ path }) => numberAtEnd(path)),
    itemsEver: madeEver(byPath.get(`${base}/i`)),
    claimsEver: madeEver(byPath.get(`${base}/c`)),
  });
  return {
    queues: new Map(below(`${root}/queues`).map(({ path }) => [lastName(path), queueOf(path)])),
    keys: new Map(below(`${root}/keys`).map((node) => [lastName(node.path), valueOf(node) ?? ''])),
    atMs,
  };
}

function valueOf({ data }: TreeNode): string | undefined {
  return data === null || data === ''
    ? undefined
    : String(JSON.parse(Buffer.from(data, 'base64').toString()));
}

/** Each child that is made counts once, each that is removed once more. */
function madeEver(node: TreeNode | undefined): number {
  return node === undefined ? 0 : (node.cversion + node.numChildren) / 2;
}

function numberAtEnd(path: string): number {
  return Number(path.slice(path.lastIndexOf('-') + 1));
}

function lastName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
