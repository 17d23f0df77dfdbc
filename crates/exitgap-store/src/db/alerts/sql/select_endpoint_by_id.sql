SELECT * FROM endpoint WHERE id = :id;
