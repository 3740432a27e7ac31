/**
 * The client of Redis in its fastest form: it sends the commands of one turn in one write, like the
 * other clients.
 */
import { Redis } from 'ioredis';

export function connectRedis(url: string): Redis {
  return new Redis(url, { enableAutoPipelining: true });
}
