/** The client of Redis, at its best: the commands of one turn in one write, as the others send theirs. */
import { Redis } from 'ioredis';

export function connectRedis(url: string): Redis {
  return new Redis(url, { enableAutoPipelining: true });
}
