/**
 * Returns the SQL condition that the company of a row is one of the companies in the query `q`. The column
 * `ofCompanies` of `q` contains company ids, separated by spaces, or null for any company. With this condition,
 * PostgreSQL does not even read rows of other companies. Otherwise, a client could find out from the response time
 * whether such rows exist.
 *
 * @param company an SQL expression for the id of the company
 */
export const isOfCompanies = (company: string) =>
  `(q."ofCompanies" IS NULL OR ${company} = ANY (string_to_array(q."ofCompanies", ' ')))`;
