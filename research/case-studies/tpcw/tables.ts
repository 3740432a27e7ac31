/**
 * What the bookstore remembers. Of TPC-W's tables the lines of an order, its payment and its
 * country are fields of what they belong to: they are written together, once, and read together.
 * What a row has of TPC-W's columns that never change stands in one field, since a field costs
 * memory at every site.
 */
import { counter, register, table, type Invariants } from 'correctables/server';
import type { z } from 'zod';
import { joined, getPart } from '../composite-keys.ts';
import type { about, address, orderLine, payment, person } from './contract.ts';

type About = z.infer<typeof about>;
type Person = z.infer<typeof person>;
type OrderLine = z.infer<typeof orderLine>;
type Payment = z.infer<typeof payment>;

/** What an administrator changes of a book. */
export interface Shown {
  readonly costCents: number;
  readonly image: string;
  readonly thumbnail: string;
}

/** Of a customer, what is known from the sign-up on. */
export interface Known extends Person {
  readonly password: string;
  readonly discount: number;
  readonly address: string;
}

interface Placed {
  readonly customer: string;
  readonly totalCents: number;
  readonly shipType: string;
  readonly shipTo: string;
  readonly payment: Payment;
}

export const tables = {
  items: table(
    {
      about: register<About>(),
      shown: register<Shown>(),
      related: register<readonly string[]>(),
      /** Red to take from, blue to add to. */
      stock: counter(),
      /** In small letters: what searches by title find. */
      title: register<string>(),
      author: register<string>(),
      /** Subject and title, in the order of a search by subject. */
      shelf: register<string>(),
      /** Subject and date of publication, in the order in which books are new. */
      newness: register<string>(),
    },
    { indexes: ['title', 'author', 'shelf', 'newness'] },
  ),
  authors: table(
    {
      name: register<string>(),
      /** In small letters: what searches by author find. */
      lastName: register<string>(),
    },
    { indexes: ['lastName'] },
  ),
  customers: table(
    {
      /** How often the identifier was handed out. */
      made: counter(),
      uname: register<string>(),
      known: register<Known>(),
      session: register<{ readonly loginAt: number; readonly expiresAt: number }>(),
    },
    { indexes: ['uname'] },
  ),
  addresses: table({ made: counter(), line: register<string>() }, { indexes: ['line'] }),
  orders: table(
    {
      made: counter(),
      placedAt: register<number>(),
      /** Customer and time: the last of a customer comes last. */
      history: register<string>(),
      status: register<string>(),
      placed: register<Placed>(),
      lines: register<readonly OrderLine[]>(),
    },
    { indexes: ['placedAt', 'history'] },
  ),
  carts: table({ made: counter(), changedAt: register<number>() }),
  /** By cart and item: see `lineKey`. */
  cartLines: table({ quantity: register<number>() }, { removable: true }),
};

type Address = z.infer<typeof address>;

/** An address as one text, by which equal ones are found. */
export const lineOf = ({ street, city, state, zip, country }: Address): string =>
  joined(street, city, state, zip, country);

/** The address of such a text. */
export function addressOf(line: string): Address {
  const part = (at: number): string => getPart(line, at);
  return { street: part(0), city: part(1), state: part(2), zip: part(3), country: part(4) };
}

/** Identifiers of items have no `/` in them; those of carts may. */
export const lineKey = (cart: string, item: string): string => `${cart}/${item}`;
export const linePrefix = (cart: string): string => `${cart}/`;

const UNIQUE = 'its identifier was handed out once';
const handedOutOnce = ({ made }: { readonly made: number }): boolean => made <= 1;

/**
 * The two invariants of the paper (§7.1): the stock, and the identifiers of what the system makes.
 */
export const invariants: Invariants<typeof tables> = {
  items: { 'the stock is never negative': ({ stock }) => stock >= 0 },
  customers: { [UNIQUE]: handedOutOnce },
  addresses: { [UNIQUE]: handedOutOnce },
  orders: { [UNIQUE]: handedOutOnce },
  carts: { [UNIQUE]: handedOutOnce },
};
