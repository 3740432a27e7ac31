/** The tree of nodes of one server, after the log entries that it has applied. */

export interface TreeNode {
  data: Uint8Array | null;
  readonly children: Set<string>;
  /** How many children were ever created. The next sequential child gets this number. */
  creates: number;
  readonly czxid: bigint;
  mzxid: bigint;
  pzxid: bigint;
  version: number;
  /** The session that owns an ephemeral node; 0 for other nodes. */
  readonly owner: bigint;
}

/** The effect of one part of a transaction, decided by the leader. */
export type Change =
  | {
      readonly kind: 'create';
      readonly path: string;
      readonly data: Uint8Array | null;
      readonly owner: bigint;
    }
  | { readonly kind: 'delete'; readonly path: string }
  | { readonly kind: 'set'; readonly path: string; readonly data: Uint8Array | null }
  | { readonly kind: 'check'; readonly path: string };

export class Tree {
  readonly nodes = new Map<string, TreeNode>([['/', createNode(null, 0n, 0n)]]);
  zxid = 0n;

  apply(zxid: bigint, changes: readonly Change[]): void {
    for (const change of changes) this.#apply(zxid, change);
    this.zxid = zxid;
  }

  #apply(zxid: bigint, change: Change): void {
    const { path } = change;
    const parent = this.nodes.get(parentOf(path));
    if (change.kind === 'create') {
      this.nodes.set(path, createNode(change.data, zxid, change.owner));
      parent?.children.add(nameOf(path));
      if (parent !== undefined) Object.assign(parent, { creates: parent.creates + 1, pzxid: zxid });
    } else if (change.kind === 'delete') {
      this.nodes.delete(path);
      parent?.children.delete(nameOf(path));
      if (parent !== undefined) parent.pzxid = zxid;
    } else if (change.kind === 'set') {
      const node = this.nodes.get(path);
      if (node !== undefined)
        Object.assign(node, { data: change.data, version: node.version + 1, mzxid: zxid });
    }
  }
}

export function createNode(data: Uint8Array | null, zxid: bigint, owner: bigint): TreeNode {
  return {
    data,
    children: new Set(),
    creates: 0,
    czxid: zxid,
    mzxid: zxid,
    pzxid: zxid,
    version: 0,
    owner,
  };
}

export function parentOf(path: string): string {
  const at = path.lastIndexOf('/');
  return at <= 0 ? '/' : path.slice(0, at);
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
