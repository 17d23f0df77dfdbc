SELECT * FROM endpoint WHERE token = :token AND url = :url;
