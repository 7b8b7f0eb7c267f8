/**
 * Returns an SQL condition that is true for a company in the list `q."ofCompanies"`. `q."ofCompanies"` is a text of
 * company ids, separated by spaces. If it is null, the condition is true for all companies. With the SQL condition of
 * `isOfCompanies`, PostgreSQL reads no rows of other companies. If PostgreSQL read rows of other companies, a client
 * could learn from the response time whether another company has matching rows.
 *
 * @param company an SQL expression for the id of the company
 */
export const isOfCompanies = (company: string) =>
  `(q."ofCompanies" IS NULL OR ${company} = ANY (string_to_array(q."ofCompanies", ' ')))`;
