import { type DocumentNode, type GraphQLSchema, specifiedRules, type ValidationRule } from 'graphql';
import { LRUCache } from 'lru-cache';
import { ServiceError } from '../errors/error-table.ts';
import { createFairTurns } from '../fair-turns.ts';
import { freeMoment } from '../free-moment.ts';
import { parseDocument, validateDocument } from './document.ts';

/** The documents that clients send, each parsed and checked once while it is kept. */
export interface ClientDocuments {
  /** The documents that are kept, by their texts. */
  parsed: LRUCache<string, DocumentNode>;
  /**
   * Parses and checks a new document in turn: it takes tens of milliseconds, and a key can send as many new ones as it
   * has requests. A text that cannot be parsed is left out.
   */
  prepare(text: unknown, keyId: string): Promise<void>;
  /** The faults of a document; found now when it was not prepared. */
  faultsOf(document: DocumentNode, rules: readonly ValidationRule[]): readonly ServiceError[];
}

/** Documents that are kept with their faults; those that run are remembered by the executor. */
const maxParsedDocuments = 100;

/** New documents that a process parses and checks at once, one of each key: it is work of the processor alone. */
const maxNewDocumentsAtOnce = 1;

/** Creates the store of the documents for a schema. */
export function createClientDocuments(schema: GraphQLSchema): ClientDocuments {
  const parsed = new LRUCache<string, DocumentNode>({ max: maxParsedDocuments });
  const faults = new WeakMap<DocumentNode, readonly ServiceError[]>();
  const turns = createFairTurns(maxNewDocumentsAtOnce);
  return {
    parsed,
    async prepare(text, keyId) {
      if (typeof text !== 'string' || parsed.has(text)) return;
      await turns.run(keyId, async () => {
        if (parsed.has(text)) return;
        try {
          const document = parseDocument(text);
          await freeMoment();
          faults.set(document, validateDocument(schema, document, specifiedRules));
          parsed.set(text, document);
        } catch (error) {
          if (!(error instanceof ServiceError)) throw error;
        }
      });
    },
    faultsOf: (document, rules) => faults.get(document) ?? validateDocument(schema, document, rules),
  };
}
