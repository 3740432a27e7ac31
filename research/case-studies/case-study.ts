/**
 * A case study: a service of the backend, initial data, and users who click (RedBlue, OSDI 2012, §7
 * and §8). The code that runs one, for a figure or for a page, needs only this.
 */
import type { Operation } from 'correctables';
import type { Arbitraries } from 'correctables/testing';
import type { Service } from 'correctables/server';
import type { Random } from '../../demo/shared/random.ts';

/**
 * How often each request is drawn, against the others: whole percentages or any other weights, 0 or
 * more.
 */
export type Mix = Readonly<Record<string, number>>;

/** The store as one user reaches it, at the site that the user is beside. */
export interface Store {
  /**
   * Executes one operation and returns its final result. A read has the site's own level, `causal`;
   * an update is as strong as it turns out to be. The caller notes here how long it took and
   * whether it was red.
   *
   * @throws CorrectableError the error of the store, or one that the contract declares: a request
   * catches expected errors, and passes failures on
   */
  ask<T>(operation: Operation<T>): Promise<T>;
}

/** What one emulated user has. */
export interface Seat {
  readonly store: Store;
  /** The user's own: equal seeds give equal users. */
  readonly random: Random;
  /** As it was given to `populate`: how much data there is. */
  readonly scale: number;
  /** Which user, from 0 on; no two at any site have the same number. */
  readonly user: number;
}

/**
 * One click: the reads and updates that follow from it, until the page that the user would see is
 * complete.
 */
export type Request = () => Promise<void>;

/** What a look at all data of one site finds. */
export interface Audit {
  /** Rows that were looked at. */
  readonly rows: number;
  /** What does not hold, in words, with the row: nothing where all is well. */
  readonly broken: readonly string[];
  /** Equal where two sites have the same data. */
  readonly digest: string;
}

export interface CaseStudy {
  /** As it is called on the command line. */
  readonly name: string;
  /** What it is, in one sentence. */
  readonly about: string;
  /** With the application's transactions, and what is named in `apart`. */
  readonly service: Service;
  /** How `correctables label` draws arguments for it. */
  readonly arbitraries: Arbitraries;
  /**
   * Operations that are none of the application's transactions, as those that load data and look at
   * it.
   */
  readonly apart: readonly string[];
  /** By name; the first one is the default. All have the same requests. */
  readonly mixes: Readonly<Record<string, Mix>>;
  /**
   * Fills the tables, through the store's own path: one site executes these, several at a time and
   * in any order.
   *
   * @param scale the share of the paper's data, above 0 and up to 1
   */
  populate(scale: number, random: Random): Iterable<Operation>;
  /**
   * Lets a user in: what each request of the mixes does for this one, by name. State of the user is
   * kept inside.
   */
  enter(subscriber: Seat): Readonly<Record<string, Request>>;
  /**
   * The requests of one user, one after the other, in the end as often as the mix says. Each is
   * drawn by itself where this is not given.
   */
  follow?(mix: Mix, random: Random): () => string;
  /** How long a user looks at a page, in milliseconds. */
  thinkMs(random: Random): number;
  /**
   * Looks at all data of the site that `store` asks, while nothing is under way: all invariants of
   * the service.
   */
  audit(store: Store): Promise<Audit>;
}

/**
 * One of the names, as often as its weight says.
 *
 * @param weights by name; at least one is above 0
 */
export function drawnFrom(weights: Mix, random: Random): string {
  const entries = Object.entries(weights);
  let left = random() * entries.reduce((sum, [, weight]) => sum + weight, 0);
  const generated =
    entries.find(([, weight]) => (left -= weight) < 0) ??
    entries.findLast(([, weight]) => weight > 0);
  return (generated as [string, number])[0];
}

/** A whole number of things at a scale: at least one. */
export function scaled(count: number, scale: number): number {
  return Math.max(1, Math.round(count * scale));
}
