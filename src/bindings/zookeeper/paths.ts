/**
 * The nodes of the binding: `ROOT/keys/KEY` for values, `ROOT/queues/QUEUE/{i,c}` for items and
 * claims, `ROOT/consumers/ID` for live bindings.
 */
import { checkWellFormed } from '../shared/well-formed-text.ts';

export class Paths {
  readonly root: string;

  constructor(root: string) {
    this.root = root;
  }

  get keys(): string {
    return `${this.root}/keys`;
  }

  key(key: string): string {
    return `${this.keys}/${encodeNodeName(checkWellFormed(key, 'key'))}`;
  }

  get queues(): string {
    return `${this.root}/queues`;
  }

  queue(queue: string): QueuePaths {
    return this.encodedQueue(encodeNodeName(checkWellFormed(queue, 'queue')));
  }

  encodedQueue(name: string): QueuePaths {
    return new QueuePaths(`${this.queues}/${name}`);
  }

  get consumers(): string {
    return `${this.root}/consumers`;
  }

  consumer(id: string): string {
    return `${this.consumers}/${id}`;
  }
}

export class QueuePaths {
  readonly base: string;
  readonly items: string;
  readonly claims: string;

  constructor(base: string) {
    this.base = base;
    this.items = `${base}/i`;
    this.claims = `${base}/c`;
  }

  item(number: number): string {
    return `${this.items}/-${padNumber(number)}`;
  }

  claim(name: string): string {
    return `${this.claims}/${name}`;
  }
}

export function parseSequenceNumber(name: string): number {
  return Number(name.slice(name.lastIndexOf('-') + 1));
}

export function encodeNodeName(name: string): string {
  const encoded = encodeURIComponent(name);
  return /^\.+$/.test(encoded) ? encoded.replaceAll('.', '%2E') : encoded;
}

export function padNumber(number: number): string {
  return String(number).padStart(10, '0');
}
